//! Hardening: walk everything that guest code could reach, delete what the table does not permit, mend what freezing
//! would break, freeze all of it. Done natively and once, before any session exists.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use rquickjs::{Ctx, Function, Object, Value};

use crate::WorldError;
use crate::permits::{self, GLOBALS, HIDDEN, PERMITS, PLAIN};
use crate::raw::{self, Slot, UsualKeys};

/// Hardens the realm; returns the addresses of every frozen object, sorted.
pub(crate) fn harden<'js>(ctx: &Ctx<'js>, kit: &Object<'js>) -> Result<Vec<usize>, WorldError> {
    let mut walk = Walk::new(ctx, table().copied().collect());
    let hidden = walk.hidden()?;
    let globals = ctx.globals();
    walk.name_all(table(), |first| match hidden.iter().find(|(name, _)| name == first) {
        Some((_, object)) => Some(object.clone()),
        None => raw::own_data(&globals, first).and_then(Value::into_object),
    });
    walk.globals()?;
    walk.visit_queue(hidden.into_iter().map(|(name, object)| (Way::Root(name), object)).collect())?;
    walk.engine_classes()?;
    walk.mend(kit)?;
    walk.freeze()
}

/// Hardens what is loaded after guest code has begun: `roots` with their names in the table of late ones. Nothing that was
/// frozen before is walked again. Returns the addresses of what is new.
pub(crate) fn harden_late<'js>(
    ctx: &Ctx<'js>,
    kit: &Object<'js>,
    roots: &[(String, Object<'js>)],
    intrinsics: &[usize],
) -> Result<Vec<usize>, WorldError> {
    let mut walk = Walk::new(ctx, permits::late::PERMITS.iter().copied().collect());
    walk.known.extend(intrinsics.iter().map(|address| (*address, usize::MAX)));
    let root_of = |first: &str| roots.iter().find(|(name, _)| name == first).map(|(_, object)| object.clone());
    walk.name_all(permits::late::PERMITS.iter(), root_of);
    walk.visit_queue(roots.iter().rev().map(|(name, object)| (Way::Root(name.clone()), object.clone())).collect())?;
    walk.mend(kit)?;
    walk.freeze()
}

/// Every object of the table with the keys it may have.
fn table() -> impl Iterator<Item = &'static permits::Permit> {
    PERMITS.iter().chain(permits::canvas::PERMITS)
}

/// Rather more objects than a realm has.
const MANY: usize = 4096;

type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<AddressHasher>>;

/// Addresses are as good as random once their low bits, which are always zero, are mixed with the rest. No guest exists
/// yet that could choose them.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, address: usize) {
        // The upper bits choose among equals, the lower ones the place: both have to depend on the whole address.
        let mixed = (self.0 ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// How the walk came to an object. Spelled out only where the path is asked for: most objects are functions that need
/// none.
enum Way {
    /// Its name in the table.
    Table(&'static str),
    /// A global or a hidden root.
    Root(String),
    /// A property of the object that was found so many objects ago, or its prototype.
    Step { parent: usize, prefix: &'static str, name: String },
}

/// An object and the way that leads to it.
struct Found<'js> {
    object: Object<'js>,
    way: Way,
    /// Its properties, where assignments to inheriting objects must stay possible.
    mended: Vec<Slot<'js>>,
}

struct Walk<'js> {
    ctx: Ctx<'js>,
    usual: UsualKeys<'js>,
    permits: HashMap<&'static str, &'static str>,
    names: ByAddress<&'static str>,
    found: Vec<Found<'js>>,
    known: ByAddress<usize>,
}

impl<'js> Walk<'js> {
    fn new(ctx: &Ctx<'js>, permits: HashMap<&'static str, &'static str>) -> Self {
        Self {
            ctx: ctx.clone(),
            usual: UsualKeys::new(ctx),
            permits,
            names: ByAddress::with_capacity_and_hasher(MANY, BuildHasherDefault::default()),
            found: Vec::with_capacity(MANY),
            known: ByAddress::with_capacity_and_hasher(MANY, BuildHasherDefault::default()),
        }
    }

    /// What no global leads to. Taken first, so that these objects keep their names in the table.
    fn hidden(&mut self) -> Result<Vec<(String, Object<'js>)>, WorldError> {
        HIDDEN
            .iter()
            .map(|(name, code)| {
                let value = crate::run::evaluate(&self.ctx, code, "cove:hidden.js")
                    .map_err(|_| failed(name, "it could not be found"))?;
                let object = value.into_object().ok_or_else(|| failed(name, "it is not an object"))?;
                Ok(((*name).to_owned(), object))
            })
            .collect()
    }

    /// Gives every object of the table its name in the table, whichever way the walk comes to it later.
    fn name_all(
        &mut self,
        table: impl Iterator<Item = &'static permits::Permit>,
        root_of: impl Fn(&str) -> Option<Object<'js>>,
    ) {
        for (path, _) in table {
            let mut steps = path.split('.');
            let root = root_of(steps.next().unwrap_or_default());
            let end = steps.try_fold(root, |at, step| {
                let at = at?;
                if step == "__proto__" {
                    return Some(raw::prototype_of(&at));
                }
                let value = if step.starts_with("@@") {
                    raw::own_slots(&at).into_iter().find(|slot| slot.name == step)?.value
                } else {
                    raw::own_data(&at, step)
                };
                Some(value.and_then(Value::into_object))
            });
            if let Some(Some(object)) = end {
                self.names.entry(raw::address(&object)).or_insert(path);
            }
        }
    }

    /// The global object keeps what is listed; the values of its properties are walked, it itself stays open.
    fn globals(&mut self) -> Result<(), WorldError> {
        let globals = self.ctx.globals();
        let permitted: Vec<_> =
            GLOBALS.split_ascii_whitespace().chain(permits::canvas::GLOBALS.split_ascii_whitespace()).collect();
        let mut queue = Vec::new();
        for slot in raw::own_slots(&globals) {
            if !permitted.contains(&slot.name.as_str()) {
                if !raw::remove(&globals, &slot.key) {
                    return Err(failed(&slot.name, "it is not permitted and cannot be removed"));
                }
                continue;
            }
            if let Some(object) = slot.value.and_then(Value::into_object)
                && raw::address(&object) != raw::address(&globals)
            {
                queue.push((Way::Root(slot.name), object));
            }
        }
        queue.reverse();
        self.visit_queue(queue)
    }

    fn visit_queue(&mut self, mut queue: Queue<'js>) -> Result<(), WorldError> {
        // Last in, first out, in reverse: a path is the shortest way found from the first root that leads there.
        while let Some((way, object)) = queue.pop() {
            self.visit(way, object, &mut queue)?;
        }
        Ok(())
    }

    /// Removes what is not permitted from one object and queues what it leads to.
    fn visit(&mut self, way: Way, object: Object<'js>, queue: &mut Queue<'js>) -> Result<(), WorldError> {
        let address = raw::address(&object);
        if self.known.contains_key(&address) {
            return Ok(());
        }
        let named = self.names.get(&address).copied();
        let way = named.map_or(way, Way::Table);
        let is_function = object.as_value().is_function();
        // Most of what there is: a function without properties of its own. Nothing to remove, nothing to follow.
        if is_function && named.is_none() && self.usual.are_all_of(&object) {
            self.queue_prototype(&object, queue);
            self.keep(object, way, Vec::new());
            return Ok(());
        }
        let path = self.path(&way);
        let permitted = self.permits.get(path.as_str()).copied();
        let slots = raw::own_slots(&object);
        // The default `prototype` of a function has at most a `constructor`; it is frozen like the rest.
        let is_default = path.ends_with(".prototype") && slots.iter().all(|slot| slot.name == "constructor");
        if permitted.is_none() && !is_function && !is_default {
            return Err(failed(&path, "it is not in the table of permitted objects"));
        }
        let mut permitted = Permitted::of(permitted.unwrap_or_default());
        // This object's own number, by which what it leads to remembers it.
        let parent = self.found.len();
        let mut kept = Vec::with_capacity(slots.len());
        for slot in slots {
            let always = is_function && matches!(slot.name.as_str(), "length" | "name")
                || slot.name == "prototype" && (is_generator(&object) || has_default_prototype(&object, &slot));
            let default = is_default && permitted.is_empty() && slot.name == "constructor";
            if !always && !default && !permitted.has(&slot.name) {
                if !raw::remove(&object, &slot.key) {
                    return Err(failed(&format!("{path}.{}", slot.name), "it is not permitted and cannot be removed"));
                }
                continue;
            }
            for (value, prefix) in [(&slot.value, ""), (&slot.getter, "get "), (&slot.setter, "set ")] {
                let below = value.as_ref().and_then(Value::as_object);
                if let Some(below) = below.filter(|below| !self.known.contains_key(&raw::address(below))) {
                    queue.push((Way::Step { parent, prefix, name: slot.name.clone() }, below.clone()));
                }
            }
            kept.push(slot);
        }
        self.queue_prototype(&object, queue);
        let mended = !permitted.is_empty() && is_shared_prototype(&path);
        self.keep(object, way, if mended { kept } else { Vec::new() });
        Ok(())
    }

    /// Queues the prototype of the object that is kept next.
    fn queue_prototype(&self, object: &Object<'js>, queue: &mut Queue<'js>) {
        let prototype = raw::prototype_of(object);
        if let Some(prototype) = prototype.filter(|found| !self.known.contains_key(&raw::address(found))) {
            let name = "__proto__".to_owned();
            queue.push((Way::Step { parent: self.found.len(), prefix: "", name }, prototype));
        }
    }

    fn keep(&mut self, object: Object<'js>, way: Way, mended: Vec<Slot<'js>>) {
        self.known.insert(raw::address(&object), self.found.len());
        self.found.push(Found { object, way, mended });
    }

    /// A way in words: `Array.prototype.map`.
    fn path(&self, way: &Way) -> String {
        match way {
            Way::Table(name) => (*name).to_owned(),
            Way::Root(name) => name.clone(),
            Way::Step { parent, prefix, name } => {
                let parent = self.found.get(*parent).map(|found| self.path(&found.way)).unwrap_or_default();
                format!("{prefix}{parent}.{name}")
            }
        }
    }

    /// Every class of the engine has a prototype; whichever the walk has not met is frozen without being opened.
    fn engine_classes(&mut self) -> Result<(), WorldError> {
        for object in raw::class_prototypes(&self.ctx) {
            if !self.known.contains_key(&raw::address(&object)) {
                for slot in raw::own_slots(&object) {
                    for value in [slot.value, slot.getter, slot.setter].into_iter().flatten() {
                        if let Some(inner) = value.into_object() {
                            raw::freeze(&inner).map_err(|_| failed("a class of the engine", "it cannot be frozen"))?;
                        }
                    }
                }
                self.keep(object, Way::Table("%EngineClass%"), Vec::new());
            }
        }
        Ok(())
    }

    /// Writable data properties of shared prototypes become pairs, so that own properties of the same name can be
    /// assigned.
    fn mend(&mut self, kit: &Object<'js>) -> Result<(), WorldError> {
        let remember: Function<'js> = kit.get("rememberPair").map_err(|_| failed("kit", "it is not whole"))?;
        let mut made = Vec::new();
        for at in 0..self.found.len() {
            let mended = std::mem::take(&mut self.found[at].mended);
            let Found { object, way, .. } = &self.found[at];
            for slot in mended {
                if !slot.writable || !slot.configurable || slot.value.is_none() {
                    continue;
                }
                let pair =
                    raw::mend(object, &slot).map_err(|_| failed(&self.path(way), "a property cannot be mended"))?;
                if let Some((getter, setter)) = pair {
                    if is_printed(&slot) {
                        let remembered = remember.call::<_, ()>((getter.clone(),));
                        remembered.map_err(|_| failed(&self.path(way), "out of memory"))?;
                    }
                    made.extend([getter, setter].into_iter().filter_map(Value::into_object));
                }
            }
        }
        for object in made {
            self.keep(object, Way::Table("%Pair%"), Vec::new());
        }
        Ok(())
    }

    fn freeze(self) -> Result<Vec<usize>, WorldError> {
        let mut addresses = Vec::with_capacity(self.found.len());
        for Found { object, way, .. } in &self.found {
            raw::freeze(object).map_err(|_| failed(&self.path(way), "it cannot be frozen"))?;
            addresses.push(raw::address(object));
        }
        addresses.sort_unstable();
        addresses.dedup();
        Ok(addresses)
    }
}

/// Objects that are still to be visited.
type Queue<'js> = Vec<(Way, Object<'js>)>;

/// The keys that one object may have.
struct Permitted {
    keys: Vec<&'static str>,
    /// Behind the key that was asked for last: the table has them mostly in the engine's order.
    next: usize,
}

impl Permitted {
    fn of(keys: &'static str) -> Self {
        Self { keys: keys.split_ascii_whitespace().collect(), next: 0 }
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn has(&mut self, key: &str) -> bool {
        let (before, behind) = self.keys.split_at(self.next.min(self.keys.len()));
        let found = behind.iter().position(|known| *known == key).map(|at| at + before.len());
        let found = found.or_else(|| before.iter().position(|known| *known == key));
        self.next = found.map_or(self.next, |at| at + 1);
        found.is_some()
    }
}

fn is_shared_prototype(path: &str) -> bool {
    (path.ends_with("rototype") || path.ends_with("__proto__")) && !PLAIN.contains(&path)
}

/// Printing and blaming ask for these behind a pair.
fn is_printed(slot: &Slot<'_>) -> bool {
    matches!(slot.name.as_str(), "constructor" | "name" | "message" | "toString" | "code")
}

/// Whether `prototype` is what every `function` is given: an object that leads back to the function and nowhere else.
fn has_default_prototype(function: &Object<'_>, slot: &Slot<'_>) -> bool {
    let Some(prototype) = slot.value.as_ref().and_then(|value| value.as_object()) else { return false };
    let slots = raw::own_slots(prototype);
    let [only] = slots.as_slice() else { return false };
    let back = only.value.as_ref().and_then(|value| value.as_object());
    only.name == "constructor" && back.is_some_and(|back| raw::address(back) == raw::address(function))
}

fn is_generator(object: &Object<'_>) -> bool {
    raw::brand(object.as_value()).is_some_and(|brand| brand.ends_with("GeneratorFunction"))
}

fn failed(path: &str, why: &str) -> WorldError {
    WorldError::Hardening(format!("{path}: {why}"))
}

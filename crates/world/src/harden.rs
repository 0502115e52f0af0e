//! Hardening: walk everything that guest code could reach, delete what the table does not permit, mend what freezing
//! would break, freeze all of it. Done natively and once, before any session exists.

use std::collections::HashMap;

use rquickjs::{Ctx, Function, Object, Value};

use crate::WorldError;
use crate::permits::{self, GLOBALS, HIDDEN, PERMITS, PLAIN};
use crate::raw::{self, Slot};

/// Hardens the realm; returns the addresses of every frozen object, sorted.
pub(crate) fn harden<'js>(ctx: &Ctx<'js>, kit: &Object<'js>) -> Result<Vec<usize>, WorldError> {
    let mut walk = Walk {
        ctx: ctx.clone(),
        permits: table().copied().collect(),
        names: HashMap::new(),
        found: Vec::new(),
        known: HashMap::new(),
    };
    let hidden = walk.hidden()?;
    walk.name_all(&hidden);
    walk.globals()?;
    walk.visit_queue(hidden)?;
    walk.engine_classes()?;
    walk.mend(kit)?;
    walk.freeze()
}

/// Every object of the table with the keys it may have.
fn table() -> impl Iterator<Item = &'static permits::Permit> {
    PERMITS.iter().chain(permits::canvas::PERMITS)
}

/// An object and the path that leads to it.
struct Found<'js> {
    object: Object<'js>,
    path: String,
    /// Its properties, where assignments to inheriting objects must stay possible.
    mended: Vec<Slot<'js>>,
}

struct Walk<'js> {
    ctx: Ctx<'js>,
    permits: HashMap<&'static str, &'static str>,
    names: HashMap<usize, &'static str>,
    found: Vec<Found<'js>>,
    known: HashMap<usize, usize>,
}

impl<'js> Walk<'js> {
    /// What no global leads to. Taken first, so that these objects keep their names in the table.
    fn hidden(&mut self) -> Result<Vec<(String, Object<'js>)>, WorldError> {
        HIDDEN
            .iter()
            .map(|(name, code)| {
                let value = crate::run::evaluate(&self.ctx, code, "cove:hidden.js")
                    .map_err(|_| failed(name, "it could not be found"))?;
                let object = value.into_object().ok_or_else(|| failed(name, "it is no object"))?;
                Ok(((*name).to_owned(), object))
            })
            .collect()
    }

    /// Gives every object of the table its name in the table, whichever way the walk comes to it later.
    fn name_all(&mut self, hidden: &[(String, Object<'js>)]) {
        for (path, _) in table() {
            let mut steps = path.split('.');
            let first = steps.next().unwrap_or_default();
            let root = match hidden.iter().find(|(name, _)| name == first) {
                Some((_, object)) => Some(object.clone()),
                None => raw::own_data(&self.ctx.globals(), first).and_then(Value::into_object),
            };
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
                queue.push((slot.name, object));
            }
        }
        queue.reverse();
        self.visit_queue(queue)
    }

    fn visit_queue(&mut self, mut queue: Vec<(String, Object<'js>)>) -> Result<(), WorldError> {
        // Last in, first out, in reverse: a path is the shortest way found from the first root that leads there.
        while let Some((path, object)) = queue.pop() {
            self.visit(path, object, &mut queue)?;
        }
        Ok(())
    }

    /// Removes what is not permitted from one object and queues what it leads to.
    fn visit(
        &mut self,
        path: String,
        object: Object<'js>,
        queue: &mut Vec<(String, Object<'js>)>,
    ) -> Result<(), WorldError> {
        let address = raw::address(&object);
        if self.known.contains_key(&address) {
            return Ok(());
        }
        let named = self.names.get(&address).copied();
        let path = named.map_or(path, str::to_owned);
        let is_function = object.as_value().is_function();
        // Most of what there is: a function without properties of its own. Nothing to remove, nothing to follow.
        if is_function && named.is_none() && raw::is_bare_function(&object) {
            self.queue_prototype(&object, &path, queue);
            self.keep(object, path, Vec::new());
            return Ok(());
        }
        let permitted = self.permits.get(path.as_str()).copied();
        let slots = raw::own_slots(&object);
        // The default `prototype` of a function has at most a `constructor`; it is frozen like the rest.
        let is_default = path.ends_with(".prototype") && slots.iter().all(|slot| slot.name == "constructor");
        if permitted.is_none() && !is_function && !is_default {
            return Err(failed(&path, "it is not in the table of permitted objects"));
        }
        let permitted: Vec<_> = permitted.unwrap_or_default().split_ascii_whitespace().collect();
        let mut kept = Vec::new();
        for slot in slots {
            let always = is_function && matches!(slot.name.as_str(), "length" | "name")
                || slot.name == "prototype" && (is_generator(&object) || has_default_prototype(&object, &slot));
            let default = is_default && permitted.is_empty() && slot.name == "constructor";
            if !always && !default && !permitted.contains(&slot.name.as_str()) {
                if !raw::remove(&object, &slot.key) {
                    return Err(failed(&format!("{path}.{}", slot.name), "it is not permitted and cannot be removed"));
                }
                continue;
            }
            for (value, prefix) in [(&slot.value, ""), (&slot.getter, "get "), (&slot.setter, "set ")] {
                let below = value.as_ref().and_then(Value::as_object);
                if let Some(below) = below.filter(|below| !self.known.contains_key(&raw::address(below))) {
                    queue.push((format!("{prefix}{path}.{}", slot.name), below.clone()));
                }
            }
            kept.push(slot);
        }
        self.queue_prototype(&object, &path, queue);
        let mended = !permitted.is_empty() && is_shared_prototype(&path);
        self.keep(object, path, if mended { kept } else { Vec::new() });
        Ok(())
    }

    fn queue_prototype(&self, object: &Object<'js>, path: &str, queue: &mut Vec<(String, Object<'js>)>) {
        let prototype = raw::prototype_of(object);
        if let Some(prototype) = prototype.filter(|found| !self.known.contains_key(&raw::address(found))) {
            queue.push((format!("{path}.__proto__"), prototype));
        }
    }

    fn keep(&mut self, object: Object<'js>, path: String, mended: Vec<Slot<'js>>) {
        self.known.insert(raw::address(&object), self.found.len());
        self.found.push(Found { object, path, mended });
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
                self.keep(object, "%EngineClass%".to_owned(), Vec::new());
            }
        }
        Ok(())
    }

    /// Writable data properties of shared prototypes become pairs, so that own properties of the same name can be
    /// assigned.
    fn mend(&mut self, kit: &Object<'js>) -> Result<(), WorldError> {
        let remember: Function<'js> = kit.get("rememberPair").map_err(|_| failed("kit", "it is not whole"))?;
        let mut made = Vec::new();
        for Found { object, path, mended } in &mut self.found {
            for slot in std::mem::take(mended) {
                if !slot.writable || !slot.configurable || slot.value.is_none() {
                    continue;
                }
                let pair = raw::mend(object, &slot).map_err(|_| failed(path, "a property cannot be mended"))?;
                if let Some((getter, setter)) = pair {
                    if is_printed(&slot) {
                        remember.call::<_, ()>((getter.clone(),)).map_err(|_| failed(path, "out of memory"))?;
                    }
                    made.extend([getter, setter].into_iter().filter_map(Value::into_object));
                }
            }
        }
        for object in made {
            self.keep(object, "%Pair%".to_owned(), Vec::new());
        }
        Ok(())
    }

    fn freeze(self) -> Result<Vec<usize>, WorldError> {
        let mut addresses = Vec::with_capacity(self.found.len());
        for Found { object, path, .. } in &self.found {
            raw::freeze(object).map_err(|_| failed(path, "it cannot be frozen"))?;
            addresses.push(raw::address(object));
        }
        addresses.sort_unstable();
        addresses.dedup();
        Ok(addresses)
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

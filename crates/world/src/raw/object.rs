//! Looking at and changing objects property by property, natively: the tools of hardening.

use rquickjs::{Ctx, Object, Value, qjs};

/// One own property.
pub(crate) struct Slot<'js> {
    /// The key itself, a string or a symbol.
    pub(crate) key: Value<'js>,
    /// The key for tables and messages: `map`, or `@@iterator` for `Symbol.iterator`.
    pub(crate) name: String,
    /// The value of a data property.
    pub(crate) value: Option<Value<'js>>,
    /// The getter of an accessor.
    pub(crate) getter: Option<Value<'js>>,
    /// The setter of an accessor.
    pub(crate) setter: Option<Value<'js>>,
    /// Whether it can be changed or deleted.
    pub(crate) configurable: bool,
    /// Whether it is enumerable.
    pub(crate) enumerable: bool,
    /// Whether a data property can be assigned to.
    pub(crate) writable: bool,
}

/// Where an object lives: its identity, for objects that live as long as the world.
pub(crate) fn address(object: &Object<'_>) -> usize {
    // SAFETY: the value is an object, so its payload is the pointer.
    unsafe { qjs::JS_VALUE_GET_PTR(object.as_raw()) as usize }
}

/// Every own property of an object that is no proxy.
pub(crate) fn own_slots<'js>(object: &Object<'js>) -> Vec<Slot<'js>> {
    if object.as_value().is_proxy() {
        return Vec::new();
    }
    let ctx = object.ctx();
    let raw = ctx.as_raw().as_ptr();
    let mut table: *mut qjs::JSPropertyEnum = std::ptr::null_mut();
    let mut length: u32 = 0;
    let wanted = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_SYMBOL_MASK) as i32;
    let mut slots = Vec::new();
    // SAFETY: the table is filled by the engine, read within its length, and freed by the engine. No proxy is involved,
    // so no guest code runs.
    unsafe {
        if qjs::JS_GetOwnPropertyNames(raw, &mut table, &mut length, object.as_raw(), wanted) < 0 {
            ctx.catch();
            return slots;
        }
        for index in 0..length as usize {
            if let Some(slot) = read(ctx, object, (*table.add(index)).atom) {
                slots.push(slot);
            }
        }
        qjs::JS_FreePropertyEnum(raw, table, length);
    }
    slots
}

/// One own property; the caller has made sure that the object is no proxy.
fn read<'js>(ctx: &Ctx<'js>, object: &Object<'js>, atom: qjs::JSAtom) -> Option<Slot<'js>> {
    let raw = ctx.as_raw().as_ptr();
    let undefined = qjs::JS_UNDEFINED;
    let mut found = qjs::JSPropertyDescriptor { flags: 0, value: undefined, getter: undefined, setter: undefined };
    // SAFETY: the descriptor's three values come back owned and are moved into `Value`s that free them.
    unsafe {
        if qjs::JS_GetOwnProperty(raw, &mut found, object.as_raw(), atom) <= 0 {
            return None;
        }
        let key = Value::from_raw(ctx.clone(), qjs::JS_AtomToValue(raw, atom));
        let [value, getter, setter] =
            [found.value, found.getter, found.setter].map(|value| Value::from_raw(ctx.clone(), value));
        let accessor = found.flags & qjs::JS_PROP_GETSET as i32 != 0;
        // Most keys are text already; only a symbol has to be printed.
        let name = match super::value::text(&key) {
            Some(name) => name,
            None => {
                let printed = Value::from_raw(ctx.clone(), qjs::JS_AtomToString(raw, atom));
                let printed = super::value::text(&printed).unwrap_or_default();
                if key.is_symbol() { format!("@@{}", printed.trim_start_matches("Symbol.")) } else { printed }
            }
        };
        Some(Slot {
            name,
            value: (!accessor).then_some(value),
            getter: Some(getter).filter(|_| accessor).filter(Value::is_object),
            setter: Some(setter).filter(|_| accessor).filter(Value::is_object),
            configurable: found.flags & qjs::JS_PROP_CONFIGURABLE as i32 != 0,
            enumerable: found.flags & qjs::JS_PROP_ENUMERABLE as i32 != 0,
            writable: found.flags & qjs::JS_PROP_WRITABLE as i32 != 0,
            key,
        })
    }
}

/// The two keys that every function may have, looked up once for the many functions there are.
pub(crate) struct UsualKeys<'js> {
    ctx: Ctx<'js>,
    atoms: [qjs::JSAtom; 2],
}

impl<'js> UsualKeys<'js> {
    pub(crate) fn new(ctx: &Ctx<'js>) -> Self {
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: both texts end with NUL; the atoms are owned here and freed with this value.
        let atoms = [c"length", c"name"].map(|key| unsafe { qjs::JS_NewAtom(raw, key.as_ptr()) });
        Self { ctx: ctx.clone(), atoms }
    }

    /// Whether a function has `length` and `name` and nothing else.
    pub(crate) fn are_all_of(&self, function: &Object<'js>) -> bool {
        let raw = self.ctx.as_raw().as_ptr();
        let mut table: *mut qjs::JSPropertyEnum = std::ptr::null_mut();
        let mut length: u32 = 0;
        let wanted = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_SYMBOL_MASK) as i32;
        if function.as_value().is_proxy() {
            return false;
        }
        // SAFETY: the table is filled by the engine, read within its length, and freed by the engine; so are the atoms.
        unsafe {
            if qjs::JS_GetOwnPropertyNames(raw, &mut table, &mut length, function.as_raw(), wanted) < 0 {
                self.ctx.catch();
                return false;
            }
            let bare = (0..length as usize).all(|index| self.atoms.contains(&(*table.add(index)).atom));
            qjs::JS_FreePropertyEnum(raw, table, length);
            bare
        }
    }
}

impl Drop for UsualKeys<'_> {
    fn drop(&mut self) {
        for atom in self.atoms {
            // SAFETY: made in `new`, freed once.
            unsafe { qjs::JS_FreeAtom(self.ctx.as_raw().as_ptr(), atom) };
        }
    }
}

/// An own data property's value, without running a getter or a proxy's trap.
pub(crate) fn own_data<'js>(object: &Object<'js>, name: &str) -> Option<Value<'js>> {
    if object.as_value().is_proxy() {
        return None;
    }
    let ctx = object.ctx();
    let undefined = qjs::JS_UNDEFINED;
    let mut found = qjs::JSPropertyDescriptor { flags: 0, value: undefined, getter: undefined, setter: undefined };
    // SAFETY: the atom is owned here and freed after use; the descriptor's values come back owned and are moved into
    // `Value`s that free them.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        let atom = qjs::JS_NewAtomLen(raw, name.as_ptr().cast(), name.len() as qjs::size_t);
        let there = qjs::JS_GetOwnProperty(raw, &mut found, object.as_raw(), atom);
        qjs::JS_FreeAtom(raw, atom);
        if there <= 0 {
            return None;
        }
        let [value, _getter, _setter] =
            [found.value, found.getter, found.setter].map(|value| Value::from_raw(ctx.clone(), value));
        (found.flags & qjs::JS_PROP_GETSET as i32 == 0).then_some(value)
    }
}

/// The prototype of an object that is no proxy.
pub(crate) fn prototype_of<'js>(object: &Object<'js>) -> Option<Object<'js>> {
    if object.as_value().is_proxy() {
        return None;
    }
    object.get_prototype()
}

/// Deletes a property; says whether it is gone.
pub(crate) fn remove<'js>(object: &Object<'js>, key: &Value<'js>) -> bool {
    let ctx = object.ctx();
    // SAFETY: the atom is owned here and freed after use.
    let done = unsafe {
        let raw = ctx.as_raw().as_ptr();
        let atom = qjs::JS_ValueToAtom(raw, key.as_raw());
        let done = qjs::JS_DeleteProperty(raw, object.as_raw(), atom, 0);
        qjs::JS_FreeAtom(raw, atom);
        done
    };
    if done < 0 {
        ctx.catch();
    }
    done > 0
}

/// Defines a data property with exactly these attributes.
pub(crate) fn define<'js>(
    object: &Object<'js>,
    name: &str,
    value: &Value<'js>,
    writable: bool,
    enumerable: bool,
    configurable: bool,
) -> rquickjs::Result<()> {
    let mut flags = qjs::JS_PROP_THROW;
    for (set, flag) in [
        (writable, qjs::JS_PROP_WRITABLE),
        (enumerable, qjs::JS_PROP_ENUMERABLE),
        (configurable, qjs::JS_PROP_CONFIGURABLE),
    ] {
        if set {
            flags |= flag;
        }
    }
    let ctx = object.ctx();
    // SAFETY: the engine takes ownership of one reference to the value, which is made for it; the atom is freed here.
    let done = unsafe {
        let raw = ctx.as_raw().as_ptr();
        let atom = qjs::JS_NewAtomLen(raw, name.as_ptr().cast(), name.len() as qjs::size_t);
        let owned = qjs::JS_DupValue(raw, value.as_raw());
        let done = qjs::JS_DefinePropertyValue(raw, object.as_raw(), atom, owned, flags as i32);
        qjs::JS_FreeAtom(raw, atom);
        done
    };
    if done < 0 { Err(rquickjs::Error::Exception) } else { Ok(()) }
}

/// `Object.freeze`.
pub(crate) fn freeze(object: &Object<'_>) -> rquickjs::Result<()> {
    // SAFETY: freezes one live object.
    let done = unsafe { qjs::JS_FreezeObject(object.ctx().as_raw().as_ptr(), object.as_raw()) };
    if done < 0 { Err(rquickjs::Error::Exception) } else { Ok(()) }
}

/// The prototype of every class the engine knows, also of those that no global leads to (iterators, generators, …).
pub(crate) fn class_prototypes<'js>(ctx: &Ctx<'js>) -> Vec<Object<'js>> {
    /// The engine has about 70 classes of its own and hands out further ids in order.
    const MOST_CLASSES: u32 = 256;
    let raw = ctx.as_raw().as_ptr();
    let mut found = Vec::new();
    for class in 1..MOST_CLASSES {
        // SAFETY: only registered classes are asked for; the prototype comes back owned.
        let value = unsafe {
            if !qjs::JS_IsRegisteredClass(qjs::JS_GetRuntime(raw), class) {
                continue;
            }
            Value::from_raw(ctx.clone(), qjs::JS_GetClassProto(raw, class))
        };
        found.extend(value.into_object());
    }
    found
}

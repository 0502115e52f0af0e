//! Ending what must end: errors that no `catch` holds, calls that are no longer answered, jobs that are thrown away.

use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicUsize, Ordering};

use rquickjs::{Array, Ctx, Exception, Function, Value, qjs};

/// Stack that guest code may use, in every world of this process.
///
/// At first 1 MiB of the 8 MiB that a main thread has, and of the 2 MiB of a test's thread: shallow enough that native
/// functions below never meet the guard page.
static STACK_BYTES: AtomicUsize = AtomicUsize::new(1 << 20);

/// Gives guests more stack, or less. The threads that run them must have it, and a MiB on top for native functions.
pub fn use_stack(bytes: usize) {
    STACK_BYTES.store(bytes, Ordering::Relaxed);
}

/// Tells the engine where the stack of this thread begins. Needed once per run: a forked child or another thread
/// stands at another depth than whoever built the world.
pub(crate) fn enter_thread(ctx: &Ctx<'_>) {
    // SAFETY: sets two numbers of the runtime.
    unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) };
    allow_calls(ctx);
}

/// Lets functions be called again.
pub(crate) fn allow_calls(ctx: &Ctx<'_>) {
    // SAFETY: sets one number of the runtime.
    unsafe {
        qjs::JS_SetMaxStackSize(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), STACK_BYTES.load(Ordering::Relaxed) as _);
    }
}

/// From here on no function can be called and no coroutine resumed: the stack counts as full.
pub(crate) fn forbid_calls(ctx: &Ctx<'_>) {
    // SAFETY: sets one number of the runtime. One byte below its top every frame is too deep.
    unsafe { qjs::JS_SetMaxStackSize(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), 1) }
}

/// Throws what no `catch` and no `finally` sees.
pub(crate) fn throw_uncatchable(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    if let Ok(error) = Exception::from_message(ctx.clone(), message) {
        // SAFETY: marks a live error object of this context.
        unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), error.as_object().as_raw()) };
        return ctx.throw(error.into_object().into_value());
    }
    rquickjs::Error::Exception
}

/// Throws away every pending job. No guest code runs: each job finds the stack full and fails, and so does whatever
/// it would have woken. Ends by itself, because nothing new can be started.
pub(crate) fn drain_jobs(ctx: &Ctx<'_>) {
    forbid_calls(ctx);
    while ctx.execute_pending_job() {}
    allow_calls(ctx);
}

/// `Promise.prototype.then` whose callbacks do nothing once the run is over. `over` holds the flag and, beside it, what
/// is thrown then, and a function that gives an error its words before a handler hears of it.
///
/// `await` does not pass through here, and need not: a rejection that reaches it is thrown again by `__cove_catch`.
pub(crate) fn guarded_then<'js>(
    ctx: &Ctx<'js>,
    then: &Function<'js>,
    over: &Array<'js>,
) -> rquickjs::Result<Value<'js>> {
    guarded(ctx, then, over, c"then", 2)
}

/// `queueMicrotask` with the same rule.
pub(crate) fn guarded_queue<'js>(
    ctx: &Ctx<'js>,
    queue: &Function<'js>,
    over: &Array<'js>,
) -> rquickjs::Result<Value<'js>> {
    guarded(ctx, queue, over, c"queueMicrotask", 1)
}

/// Which callback of `then` hears of a rejection.
const HANDLER: c_int = 1;

fn guarded<'js>(
    ctx: &Ctx<'js>,
    original: &Function<'js>,
    over: &Array<'js>,
    name: &CStr,
    callbacks: c_int,
) -> rquickjs::Result<Value<'js>> {
    // SAFETY: the new function holds its own references to the two; it is owned by what is returned.
    let value = unsafe {
        let mut kept = [original.as_raw(), over.as_raw()];
        let raw = ctx.as_raw().as_ptr();
        let made = qjs::JS_NewCFunctionData2(
            raw,
            Some(call_guarded),
            name.as_ptr(),
            callbacks,
            callbacks,
            2,
            kept.as_mut_ptr(),
        );
        Value::from_raw(ctx.clone(), made)
    };
    if value.is_exception() { Err(rquickjs::Error::Exception) } else { Ok(value) }
}

unsafe extern "C" fn call_guarded(
    ctx: *mut qjs::JSContext,
    this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    callbacks: c_int,
    kept: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes the two values that were stored and at least `argc` arguments; the wrappers made here
    // are owned here and freed after the call.
    unsafe {
        let [original, over] = [*kept, *kept.add(1)];
        let mut handlers = [qjs::JS_UNDEFINED; 2];
        for (index, handler) in handlers.iter_mut().enumerate().take(callbacks as usize) {
            if (index as c_int) >= argc {
                break;
            }
            let given = *argv.add(index);
            if qjs::JS_IsFunction(ctx, given) {
                let mut inner = [over, given];
                *handler = qjs::JS_NewCFunctionData2(
                    ctx,
                    Some(callback),
                    c"".as_ptr(),
                    1,
                    index as c_int,
                    2,
                    inner.as_mut_ptr(),
                );
            } else {
                *handler = qjs::JS_DupValue(ctx, given);
            }
        }
        let answer = qjs::JS_Call(ctx, original, this, callbacks, handlers.as_mut_ptr());
        for handler in handlers {
            qjs::JS_FreeValue(ctx, handler);
        }
        answer
    }
}

unsafe extern "C" fn callback(
    ctx: *mut qjs::JSContext,
    this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    index: c_int,
    kept: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: as above. `over` is an array that only this crate holds, so reading it runs no code; what is read from
    // it is owned here.
    unsafe {
        let [over, given] = [*kept, *kept.add(1)];
        let flag = qjs::JS_GetPropertyUint32(ctx, over, 0);
        let is_over = qjs::JS_ToBool(ctx, flag) > 0;
        qjs::JS_FreeValue(ctx, flag);
        if is_over {
            return qjs::JS_Throw(ctx, qjs::JS_GetPropertyUint32(ctx, over, 1));
        }
        if index == HANDLER && argc > 0 && qjs::JS_IsError(*argv) {
            let clarify = qjs::JS_GetPropertyUint32(ctx, over, 2);
            let told = qjs::JS_Call(ctx, clarify, qjs::JS_UNDEFINED, 1, argv);
            qjs::JS_FreeValue(ctx, clarify);
            if qjs::JS_IsException(told) {
                return told;
            }
            qjs::JS_FreeValue(ctx, told);
        }
        qjs::JS_Call(ctx, given, this, argc, argv)
    }
}

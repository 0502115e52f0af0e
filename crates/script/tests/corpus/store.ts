// Generics, overloads, multi-line types, no semicolons: where a blank may join two lines.
type Listener<S> = (
  state: S,
  previous: S | undefined,
) => void

interface Store<S, A extends { type: string } = { type: string }> {
  readonly state: S
  dispatch(action: A): void
  subscribe(listener: Listener<S>): () => void
}

type Reducer<S, A> = (state: S, action: A) => S

function createStore<S, A extends { type: string }>(
  reducer: Reducer<S, A>,
  initial: S,
): Store<S, A> {
  let state = initial as S
  const listeners = new Set<Listener<S>>()
  return {
    get state(): S { return state },
    dispatch(action: A) {
      const previous = state
      state = reducer(state, action)
      for (const listener of listeners) listener(state, previous)
    },
    subscribe: (listener: Listener<S>): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

type Action = { type: 'add'; by: number } | { type: 'reset' }
const store = createStore<number, Action>((state, action) => {
  switch (action.type) {
    case 'add': return state + action.by
    case 'reset': return 0
  }
}, 1)

const seen: Array<[number, number | undefined]> = []
const stop = store.subscribe((now, before): void => { seen.push([now, before]) })
let last = store as unknown as { state: number }
;[1, 2, 3].forEach((by: number) => store.dispatch({ type: 'add', by }))
stop()
store.dispatch({ type: 'reset' })

const pick = async <
  T,
  K extends keyof T,
>(value: T, ...keys: K[]): Promise<
  Pick<T, K>
> => {
  const out = {} as Pick<T, K>
  for (const key of keys) out[key] = value[key]!
  return out
}

const picked = await pick({ a: 1, b: 'x', c: null }, 'a', 'b')
const answer = { seen, state: last!.state, picked } satisfies Record<string, unknown>
if (JSON.stringify(answer) !== '{"seen":[[2,1],[4,2],[7,4]],"state":0,"picked":{"a":1,"b":"x"}}') throw new Error(JSON.stringify(answer))
return 'ok'

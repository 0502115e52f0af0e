const { map } = await import("lodash/fp")
const p = import('@scope/pkg')

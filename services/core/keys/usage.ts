/** The daily counters of the specification, in its order. All are integers. */
export const counterNames = [
  'requests',
  'history',
  'symbols',
  'coverage',
  'status',
  'config',
  'usage',
  'ws_connect',
  'ws_session',
  'rate_limited',
] as const

export type DailyCounters = Readonly<Record<(typeof counterNames)[number], number>>

export const endpoints = ['history', 'symbols', 'coverage', 'status', 'config', 'usage'] as const
export type Endpoint = (typeof endpoints)[number]

/** A UTC day, `YYYY-MM-DD`. */
export type Day = string
export const usageDaysKept = 91

/** The greater value of each counter; two counts of one day are never added. */
export const greaterCounters = (a: DailyCounters, b: DailyCounters): DailyCounters =>
  Object.fromEntries(counterNames.map((name) => [name, Math.max(a[name], b[name])])) as DailyCounters

export const noCounters: DailyCounters = Object.freeze(
  Object.fromEntries(counterNames.map((name) => [name, 0])) as Record<(typeof counterNames)[number], number>,
)

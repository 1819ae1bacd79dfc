import type { Bar } from './bars.ts'
import { query, read } from './http.ts'

export interface History {
  readonly s: string
  readonly t: number[]
  readonly o: number[]
  readonly h: number[]
  readonly l: number[]
  readonly c: number[]
  readonly v: number[]
  readonly meta: { symbol: string; resolution: string; bar_count: number }
}

export const historyPath = (parameters: Parameters<typeof query>[0]): string =>
  `/v1/history${query(parameters)}`

export const readHistory = (key: string, parameters: Parameters<typeof query>[0]): Promise<History> =>
  read<History>(historyPath(parameters), key)

/** The columns of an answer as bars; `no_data` is no bars. */
export const barsOf = (history: History): Bar[] =>
  history.s === 'no_data'
    ? []
    : history.t.map((time, index) => ({
        time,
        open: history.o[index] ?? Number.NaN,
        high: history.h[index] ?? Number.NaN,
        low: history.l[index] ?? Number.NaN,
        close: history.c[index] ?? Number.NaN,
        volume: history.v[index] ?? Number.NaN,
      }))

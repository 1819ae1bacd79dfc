import type { Bar } from './bars.ts'
import { ask, query, read } from './http.ts'

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

export type HistoryQuery = Parameters<typeof query>[0]

export const historyPath = (parameters: HistoryQuery): string => `/v1/history${query(parameters)}`

export const readHistory = (key: string, parameters: HistoryQuery): Promise<History> =>
  read<History>(historyPath(parameters), key)

/** The columns of an answer as bars; none for `no_data`. */
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

/** Sends a request that history refuses; returns its status and both error formats of its body. */
export const refusedHistory = async (key: string, parameters: HistoryQuery) => {
  const got = await ask<{ s: string; errmsg: string; error: { code: string; message: string } }>(
    historyPath(parameters),
    { key },
  )
  return { status: got.status, ...got.body }
}

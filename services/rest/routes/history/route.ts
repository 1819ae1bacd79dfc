import type { Static } from 'typebox'
import type { History } from '../../../bars/history.ts'
import { type Bars, barCount, sliceBars } from '../../../core/bars/bar.ts'
import type { Series } from '../../../core/bars/series.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { Failure, Unavailable } from '../../../core/failure.ts'
import type { Reader } from '../../../core/fair-queue.ts'
import { bytesOf, type JsonText } from '../../answer.ts'
import type { Deadline } from '../../deadline.ts'
import type { RestDeps } from '../../deps.ts'
import type { FairTurns } from '../../fair-turns.ts'
import { findSymbol } from '../../found.ts'
import type { Route } from '../../route.ts'
import { AnswerMemory, type AnswerReservation, longBytes, readMsMax } from './answer-memory.ts'
import { AnswerText, barsPerTurn } from './answer-text.ts'
import { historySchema } from './schema.ts'

type HistoryQuery = Static<typeof historySchema.query>
type HistoryDeps = Pick<RestDeps, 'history' | 'clock' | 'metrics'>

const noData = { s: 'no_data' } as const

export function createHistoryRoute(
  { history, clock, metrics }: HistoryDeps,
  turns: FairTurns,
): Route<typeof historySchema.query> {
  const memory = new AnswerMemory(clock)
  measure(memory, metrics)

  return {
    schema: historySchema,
    async handle(query, { key, view, deadline, reader }): Promise<JsonText | typeof noData> {
      const wanted = wantedBars(query)
      const found = findSymbol(query.symbol, key, view)
      if (!found?.feed.resolutions.includes(query.resolution)) return noData
      const { symbol, feed } = found.symbol
      const series: Series = { feed, symbol, resolution: query.resolution }
      const { text, reservation } = await collect(
        readBars(history, series, wanted, reader),
        deadline,
        memory.open(key.id),
        () => turns.enter(reader),
      )
      if (text.count === 0) return noData
      const pieces = text.pieces(series)
      return { pieces, ...(reservation && { reserved: { ...reservation, ms: readMsMax(bytesOf(pieces)) } }) }
    },
  }
}

function measure(memory: AnswerMemory, metrics: HistoryDeps['metrics']): void {
  metrics.gauge(
    'fxd_history_long_answers',
    'Answers above 1 MiB, by state: held until the client has read them, or waiting for memory.',
    ['state'],
    (gauge) => {
      gauge.set({ state: 'held' }, memory.answers)
      gauge.set({ state: 'waiting' }, memory.waiting)
    },
  )
  metrics.gauge('fxd_history_held_bytes', 'Memory of the long answers.', [], (gauge) =>
    gauge.set(memory.bytes),
  )
  metrics.counter(
    'fxd_history_refused_answers_total',
    'Long answers refused because no memory was free in time.',
    [],
    (counter) => counter.inc(memory.refused),
  )
}

type Wanted =
  | { readonly countback: number; readonly to: number | undefined }
  | { readonly from: number; readonly to: number }

/** Uses `countback` if it was sent, else both ends of the range. */
function wantedBars({ from, to, countback }: HistoryQuery): Wanted {
  if (countback !== undefined) return { countback, to }
  if (from === undefined && to === undefined)
    throw new Failure('INVALID_PARAMS', 'countback: got nothing, wanted countback, or both from and to')
  if (from === undefined) throw new Failure('INVALID_PARAMS', 'from: got nothing, wanted it together with to')
  if (to === undefined) throw new Failure('INVALID_PARAMS', 'to: got nothing, wanted it together with from')
  if (from > to) throw new Failure('INVALID_PARAMS', `from: got ${from}, wanted at most to, ${to}`)
  return { from, to }
}

async function* readBars(
  history: History,
  series: Series,
  wanted: Wanted,
  reader: Reader,
): AsyncIterable<Bars> {
  if ('countback' in wanted) {
    const to = wanted.to === undefined ? undefined : feedSeconds(wanted.to)
    yield await history.countback(series, wanted.countback, to, reader)
  } else {
    yield* history.range(series, feedSeconds(wanted.from), feedSeconds(wanted.to), reader)
  }
}

/** Reads to the end; reserves memory once the answer is long. Each slice is progress. */
async function collect(
  slices: AsyncIterable<Bars>,
  deadline: Deadline,
  reservation: AnswerReservation,
  enter: () => Promise<void>,
) {
  const text = new AnswerText()
  const checkClient = (): void => {
    if (deadline.ended) throw new Unavailable('a client that waits')
  }
  try {
    for await (const slice of slices) {
      for (let at = 0; at < barCount(slice); at += barsPerTurn) {
        if (barCount(slice) > barsPerTurn) await enter()
        deadline.restart()
        text.add(sliceBars(slice, at, at + barsPerTurn))
      }
      if (text.bytes > longBytes) await reservation.grow(text.bytes)
      deadline.restart()
      checkClient()
    }
    checkClient()
  } catch (error) {
    reservation.leave()
    throw error
  }
  return { text, reservation: reservation.bytes > 0 ? reservation : undefined }
}

import { type Bars, sliceBars } from '../../core/bars/bar.ts'
import { LimitedLog } from '../../platform/log/limited-log.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'
import type { PreparedBars } from '../series/bar-router.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { cleanSeriesId } from '../series/series-id.ts'
import { recordStored } from '../series/unstored-spans.ts'
import type { Part } from './pack-bars.ts'
import { reasonOf } from './session-client.ts'

/** Notes what ingest stored and refused of the bars of one session. Logs refusals, once a minute for each series. */
export class Refusals {
  readonly #log: LimitedLog

  constructor({ log, clock }: { readonly log: Log; readonly clock: Pick<Clock, 'monotonicMs'> }) {
    this.#log = new LimitedLog(log, clock)
  }

  /** Returns the bars that had not closed by ingest's clock: they are sent again later. */
  note(
    parts: readonly Part<PreparedBars>[],
    refused: readonly RefusedBar__Output[],
  ): { readonly series: CollectedSeries; readonly bar: Bars }[] {
    recordStored(parts, refused)
    return refused.flatMap(({ series, index, count: bars, reason, message: why }) => {
      const part = parts[series]
      if (!part) return []
      const { item } = part
      if (reasonOf(reason) === 'NOT_CLOSED')
        return [{ series: item.series, bar: sliceBars(part.bars, index, index + 1) }]
      const { symbol, resolution } = item
      const fields = { symbol, resolution, bars, why }
      // A wrong clock of the feed concerns every series.
      if (reasonOf(reason) === 'IN_THE_FUTURE')
        this.#log.write('warn', fields, "bars ahead of the feed's clock rejected by ingest; check spec.clock")
      else this.#log.write('warn', fields, 'bars rejected by ingest', cleanSeriesId(item))
      return []
    })
  }
}

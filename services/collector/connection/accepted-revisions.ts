import { decodeBars } from '../../wire/decode-bars.ts'
import { type EncodedSeries, encodeBars, encodeSeriesBars } from '../../wire/encode-bars.ts'
import { type CleanSeriesId, cleanSeriesId } from '../series/series-id.ts'
import type { SpoolRecord } from '../spool/record.ts'

/**
 * Gives spooled batches revisions that ingest accepts. Revisions above `latest` are lowered, because ingest
 * refuses them as too far ahead of its clock. All other revisions stay as they were first sent. Call
 * `messageOf` for the batches in the order of the spool.
 */
export class AcceptedRevisions {
  readonly #latest: number
  /** The greatest revision of each series so far; a lowered one is greater, so no correction is undone. */
  readonly #greatest = new Map<CleanSeriesId, number>()

  constructor(latest: number) {
    this.#latest = latest
  }

  /** Returns the message of the batch. Lowered revisions become at least `revision`. */
  messageOf({ series }: SpoolRecord, revision: number): readonly EncodedSeries[] {
    const message = series.map(({ encoded }) => encoded)
    const decoded = decodeBars(encodeBars(1, 'LIVE', message))
    return series.map(({ symbol, resolution, encoded }, i) => {
      const { bars, scale = 0 } = decoded?.series[i] ?? {}
      if (typeof bars !== 'object') return encoded
      const id = cleanSeriesId({ symbol, resolution })
      const before = this.#greatest.get(id) ?? 0
      const lowered = Math.max(revision, before + 1)
      const revisions = bars.revision.map((each) => (each > this.#latest ? lowered : each))
      this.#greatest.set(id, Math.max(before, ...revisions))
      const isLowered = bars.revision.some((each) => each > this.#latest)
      return isLowered
        ? encodeSeriesBars({ symbol, resolution, scale }, { ...bars, revision: revisions })
        : encoded
    })
  }
}

import { decodeBars } from '../../wire/decode-bars.ts'
import { type EncodedSeries, encodeBars, encodeSeriesBars } from '../../wire/encode-bars.ts'
import type { SpoolRecord } from '../spool/record.ts'

/**
 * Returns the message of a spooled batch, with `revision` in place of all that are greater than `latest`: ingest
 * refuses those as too far ahead of its clock. All others stay as they were first sent.
 */
export function withAcceptedRevisions(
  { series }: SpoolRecord,
  { latest, revision }: { readonly latest: number; readonly revision: number },
): readonly EncodedSeries[] {
  const message = series.map(({ encoded }) => encoded)
  const decoded = decodeBars(encodeBars(1, 'LIVE', message))
  return series.map(({ symbol, resolution, encoded }, i) => {
    const { bars, scale = 0 } = decoded?.series[i] ?? {}
    if (typeof bars !== 'object' || !bars.revision.some((each) => each > latest)) return encoded
    const revisions = bars.revision.map((each) => (each > latest ? revision : each))
    return encodeSeriesBars({ symbol, resolution, scale }, { ...bars, revision: revisions })
  })
}

import type { FxdProcess } from '../support/fxd-process.ts'
import { feed, type Market, minuteSeconds } from '../support/market.ts'

interface Range {
  readonly from: number
  readonly to: number
}

/**
 * Returns which acknowledged minutes coverage lacks, a sentence per symbol. Each minute has a bar of every
 * symbol. Coverage must contain its open time, and neighbouring minutes must be in one range.
 */
export async function checkCoverage(
  fxd: Pick<FxdProcess, 'get'>,
  market: Market,
  minutes: ReadonlySet<number>,
): Promise<string[]> {
  const complaints: string[] = []
  for (const symbol of market.symbols) {
    const { status, body } = await fxd.get(`/v1/coverage?symbol=${feed}:${symbol}`)
    if (status !== 200) throw new Error(`coverage answered ${status}: ${JSON.stringify(body)}`)
    const { coverage } = body as { readonly coverage: readonly Range[] }
    const contains = (from: number, to: number): boolean =>
      coverage.some((range) => range.from <= from && to <= range.to)
    const lost = [...minutes].filter(
      (open) => !contains(open, minutes.has(open + minuteSeconds) ? open + minuteSeconds : open),
    )
    if (lost.length > 0)
      complaints.push(
        `${symbol}: coverage lacks ${lost.length} of ${minutes.size} acknowledged minutes, first ${lost[0]}`,
      )
  }
  return complaints
}

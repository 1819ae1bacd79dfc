import { seriesId } from '../../core/bars/series.ts'
import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { ResolutionsWithoutBars } from '../../wire/gen/fxd/v1/ResolutionsWithoutBars.ts'

/** Groups the symbols that have bars by the resolutions that have none. `newest`: by `seriesId`. */
export function resolutionsWithoutBars(
  symbols: readonly CompoundKey[],
  resolutions: readonly Resolution[],
  newest: ReadonlyMap<string, unknown>,
): ResolutionsWithoutBars[] {
  const stored = resolutions.filter((resolution) => resolution !== '30')
  const groups = new Map<string, { resolutions: Resolution[]; symbols: number[] }>()
  for (const [position, symbol] of symbols.entries()) {
    const lacking = stored.filter((resolution) => !newest.has(seriesId({ symbol, resolution })))
    if (lacking.length === 0 || lacking.length === stored.length) continue
    const group = groups.get(lacking.join()) ?? { resolutions: lacking, symbols: [] }
    group.symbols.push(position)
    groups.set(lacking.join(), group)
  }
  return [...groups.values()]
}

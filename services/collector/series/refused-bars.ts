import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'

/**
 * Returns a function for the refusals of one series of a message, by its position. `whole`: ingest refused the message
 * as a whole, which a refusal without a bar count says.
 */
export function refusedBySeries(
  refused: readonly RefusedBar__Output[],
): (position: number) => readonly RefusedBar__Output[] | 'whole' {
  if (refused.some(({ count }) => count === 0)) return () => 'whole'
  const bySeries = Map.groupBy(refused, ({ series }) => series)
  return (position) => bySeries.get(position) ?? []
}

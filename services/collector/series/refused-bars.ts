import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'

/** By the position of a series in its message. `whole`: the message was refused, which a bar count of 0 says. */
export function refusedBySeries(
  refused: readonly RefusedBar__Output[],
): (position: number) => readonly RefusedBar__Output[] | 'whole' {
  if (refused.some(({ count }) => count === 0)) return () => 'whole'
  const bySeries = Map.groupBy(refused, ({ series }) => series)
  return (position) => bySeries.get(position) ?? []
}

import type { StreamMetrics } from '../metrics.ts'
import type { Connection } from './connection.ts'
import { messages, type SymbolGap } from './protocol.ts'

/** Sends a GAP frame and counts its symbols. */
export function nameGaps(
  connection: Connection,
  gaps: readonly SymbolGap[],
  metrics: Pick<StreamMetrics, 'gaps'>,
): void {
  metrics.gaps.inc(gaps.length)
  connection.send(messages.gap(gaps))
}

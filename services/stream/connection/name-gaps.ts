import type { gapCauses, StreamMetrics } from '../metrics.ts'
import type { Connection } from './connection.ts'
import { messages, type SymbolGap } from './protocol.ts'

export function nameGaps(
  connection: Connection,
  gaps: readonly SymbolGap[],
  cause: (typeof gapCauses)[number],
  metrics: Pick<StreamMetrics, 'gaps'>,
): void {
  metrics.gaps.inc({ cause }, gaps.length)
  connection.send(messages.gap(gaps))
}

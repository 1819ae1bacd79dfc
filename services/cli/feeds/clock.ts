import { daySeconds } from '../../core/clocks/calendar.ts'
import type { JsonOption } from '../options.ts'
import { json, table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { instantText } from '../time-text.ts'
import { withRegistry } from '../with-registry.ts'

/** Prints the history of a feed's clock, oldest first. */
export const showClock = (feed: string, options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const { mode, readings } = await registry.call('GetClock', { feed })
    const rows = readings.map(({ since, clockOffsetSeconds, source, measuredAt }) => ({
      effective_from: instantText(since),
      clock_offset_seconds: clockOffsetSeconds,
      source,
      measured_at: measuredAt === undefined ? null : instantText(measuredAt),
    }))
    if (options.json) return terminal.out(json({ feed, mode, readings: rows }))
    const isUnknown = mode === 'Measured' && rows.at(-1)?.source !== 'Measured'
    const lines = rows.map((row) => [
      row.effective_from,
      String(row.clock_offset_seconds),
      aheadText(-row.clock_offset_seconds),
      row.source,
      row.measured_at ?? '-',
    ])
    const head = ['EFFECTIVE FROM', 'OFFSET', 'CLOCK', 'SOURCE', 'LAST MEASURED']
    terminal.out((lines.length > 0 ? table(head, lines) : '') + (isUnknown ? unknownText(feed) : ''))
  })

const unknownText = (feed: string): string =>
  `The clock of ${feed} is not measured yet: that takes ticks of its terminal that move for two minutes.\n`

/** `UTC+03:00`, or with days `UTC-4018d 00:00`. */
function aheadText(seconds: number): string {
  const ahead = Math.abs(seconds)
  const days = Math.floor(ahead / daySeconds)
  const ofDay = new Date((ahead % daySeconds) * 1_000).toISOString().slice(11, 16)
  return `UTC${seconds < 0 ? '-' : '+'}${days > 0 ? `${days}d ` : ''}${ofDay}`
}

import type { RunningAll } from '../../roles/all.ts'
import type { Terminal } from '../terminal.ts'

const reportEveryMs = 5_000
/** Time without new bars after which the history counts as read. */
const quietMs = 15_000

const counted = new Intl.NumberFormat('en')

/**
 * Reports the bars of history that collectors read after a start, until no more arrive. On a terminal only the
 * beginning and the end are reported, so that the greeting stays on the screen.
 */
export function reportHistory(
  service: Pick<RunningAll, 'backfilled'>,
  terminal: Pick<Terminal, 'err' | 'clock' | 'watched'>,
): void {
  let reported = 0
  let grewAt = terminal.clock.monotonicMs()
  const report = (bars: number): void => {
    const now = terminal.clock.monotonicMs()
    if (bars > reported) {
      if (!terminal.watched) terminal.err(`reading history: ${counted.format(bars)} bars so far\n`)
      else if (reported === 0) terminal.err('reading history in the background\n')
      reported = bars
      grewAt = now
    } else if (now - grewAt >= quietMs) {
      stop()
      if (reported > 0) terminal.err(`history is read: ${counted.format(reported)} bars\n`)
    }
  }
  const stop = terminal.clock.every(reportEveryMs, () => void service.backfilled().then(report))
}

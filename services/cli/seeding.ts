import type { RunningAll } from '../roles/all.ts'
import type { Terminal } from './terminal.ts'

const tellEveryMs = 5_000
/** Nothing new for so long: the collectors have read what there is. */
const quietMs = 15_000

const counted = new Intl.NumberFormat('en')

/**
 * Tells how the history of the collectors' feeds comes in behind a start, until no more comes. On a terminal it
 * tells the beginning and the end alone: the greeting stays on the screen.
 */
export function tellSeeding(
  service: Pick<RunningAll, 'backfilled'>,
  terminal: Pick<Terminal, 'err' | 'clock' | 'watched'>,
): void {
  let told = 0
  let grewAt = terminal.clock.monotonicMs()
  const tell = (bars: number): void => {
    const now = terminal.clock.monotonicMs()
    if (bars > told) {
      if (!terminal.watched) terminal.err(`reading history: ${counted.format(bars)} bars so far\n`)
      else if (told === 0) terminal.err('reading history in the background\n')
      told = bars
      grewAt = now
    } else if (now - grewAt >= quietMs) {
      stop()
      if (told > 0) terminal.err(`history is read: ${counted.format(told)} bars\n`)
    }
  }
  const stop = terminal.clock.every(tellEveryMs, () => void service.backfilled().then(tell))
}

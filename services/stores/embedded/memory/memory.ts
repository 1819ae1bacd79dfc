import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { RateUse } from '../../../core/keys/rate-window.ts'
import { type Day, usageDaysKept } from '../../../core/keys/usage.ts'
import type { Log } from '../../../platform/log/log.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { FeedLiveness } from '../../../ports/feed-board.ts'
import type { MemoryRows } from '../file/memory-rows.ts'
import type { FileWriter } from '../threads/file-writer.ts'
import { DailyUsage, utcDay } from './daily-usage.ts'
import { Remembered } from './remembered.ts'

const writeEveryMs = 1_000
/** Age of a UTC day when old usage is deleted. A clock that is wrong for a shorter time deletes nothing. */
const daySettlesMs = 60 * 60_000

/** State in memory that is written to the file each second: a crash loses at most the last second. */
export interface Memory {
  readonly usage: DailyUsage
  readonly uses: Remembered<string, RateUse>
  readonly liveness: Remembered<FeedKey, FeedLiveness>
  /** Stops the timer and writes all changed values. */
  close(): Promise<void>
}

/** `rows` is the state that the last run of the service stored. */
export function startMemory(rows: MemoryRows, writer: FileWriter, clock: Clock, log: Log): Memory {
  const usage = new DailyUsage(clock, rows.usage)
  const uses = new Remembered<string, RateUse>(rows.uses)
  const liveness = new Remembered<FeedKey, FeedLiveness>(rows.liveness)
  let seen = { day: utcDay(clock), sinceMs: clock.monotonicMs() }
  let prunedOn: Day | undefined
  let writing: Promise<void> | undefined
  const outage = new OutageLog({ log, clock })

  /** Today, once its old usage is due. */
  const dayToPrune = (): Day | undefined => {
    const day = utcDay(clock)
    if (day !== seen.day) seen = { day, sinceMs: clock.monotonicMs() }
    const isSettled = clock.monotonicMs() - seen.sinceMs >= daySettlesMs
    return isSettled && prunedOn !== day ? day : undefined
  }
  const writeChanges = async (): Promise<void> => {
    const today = dayToPrune()
    const usageFrom = today && utcDay(clock, usageDaysKept - 1)
    const taken = { usage: usage.takeChanged(), uses: uses.takeChanged(), liveness: liveness.takeChanged() }
    const isUnchanged = taken.usage.size + taken.uses.size + taken.liveness.size === 0
    if (isUnchanged && usageFrom === undefined) return
    const changed = { usage: [...taken.usage.values()], uses: [...taken.uses], liveness: [...taken.liveness] }
    try {
      await writer.call('remember', { rows: changed, usageFrom }, 'live')
      outage.worked('counters are stored again')
      if (today === undefined) return
      prunedOn = today
      usage.forgetOldDays()
    } catch (cause) {
      usage.putBack(taken.usage)
      uses.putBack(taken.uses)
      liveness.putBack(taken.liveness)
      outage.failed({ text: 'failed to store counters; retrying every second', cause })
    }
  }
  /** One write at a time: after a slow one, the next writes all that changed during it. */
  const write = (): Promise<void> =>
    (writing ??= writeChanges().finally(() => {
      writing = undefined
    }))

  const stop = clock.every(writeEveryMs, () => void write())
  return {
    usage,
    uses,
    liveness,
    async close() {
      stop()
      await writing
      await write()
    },
  }
}

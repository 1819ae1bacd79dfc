import { systemClock } from '../../../services/platform/system-clock.ts'
import { market, marketSymbols } from '../minute/market.ts'
import { monotonicMs } from '../minute/monotonic.ts'
import type { Subject } from '../minute/subjects.ts'
import { metricOf } from '../support/bench-feed.ts'

const deadlineMs = 20_000
const minuteMs = 60_000
/** The processes stand still from this time before the minute. */
const earlierMs = 500

/**
 * Loses the bars of the next minute on the bus: the processes of the stream stand still until ingest has published
 * them, and the events of the bus are deleted then. So the stream reads the bars from the store.
 */
export async function loseMinute({ redis, opsOfIngest, pids }: Subject): Promise<void> {
  if (!redis) throw new Error('only the cluster has Redis')
  const pushed = (): Promise<number> =>
    metricOf({ target: { ops: opsOfIngest } }, 'fxd_ingest_pushed_bars_total')
  await systemClock.sleep(minuteMs - (systemClock.utcMs() % minuteMs) - earlierMs)
  const wanted = (await pushed()) + marketSymbols.length
  const streams = Object.entries(pids()).flatMap(([name, pid]) => (name.startsWith('stream-') ? [pid] : []))
  for (const pid of streams) process.kill(pid, 'SIGSTOP')
  try {
    const end = monotonicMs() + deadlineMs
    while ((await pushed()) < wanted) {
      if (monotonicMs() > end) throw new Error(`ingest did not publish a minute within ${deadlineMs} ms`)
      await systemClock.sleep(25)
    }
    for (const { feed } of market) await redis.command(`XTRIM fxd:{bus}:lane:${feed} MAXLEN 0`)
  } finally {
    for (const pid of streams) process.kill(pid, 'SIGCONT')
  }
}

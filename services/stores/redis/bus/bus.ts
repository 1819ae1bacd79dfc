import type { Metrics } from '../../../platform/metrics.ts'
import { type Bus, feedOfEvent, fencedFeed } from '../../../ports/bus.ts'
import { type Calls, serverRun, type Word } from '../link/calls.ts'
import { scripts } from '../scripts.ts'
import { encodeEvent } from './codec.ts'
import { Following } from './following.ts'
import { BusReader, type ReaderDeps } from './reader.ts'
import { streamOf, streamTops } from './streams.ts'

/** Bounds of a stream; the oldest events are removed, and a reader that is further behind is informed of the loss. */
const keptBytesMax = 64 * 1024 * 1024
const keptMs = 30 * 60_000

/** The reader has a separate connection, which blocks while it waits for events. */
interface BusDeps extends Omit<ReaderDeps, 'followers' | 'onLoss'> {
  readonly calls: Calls
  readonly metrics: Metrics
}

/** One stream per feed, one entry per event. A publish returns the entry's position, or that the publisher is fenced. */
export function redisBus(deps: BusDeps): Bus {
  const { calls, keys, givenTime, log } = deps
  const { streams, tops, starts, epochs, bytes, life, news } = keys.bus
  const followers = new Set<Following>()
  const losses = deps.metrics.counter(
    'fxd_bus_losses_total',
    'Times that this process missed events of the bus, or could not decode one.',
  )
  const reader = new BusReader({ ...deps, followers, onLoss: () => losses.inc() })

  const begin = async (following: Following): Promise<void> => {
    try {
      const args: Word[] = [givenTime(), serverRun, streams]
      const positions = streamTops(await calls.script(scripts.look, [tops, starts, life], args))
      reader.start(positions, following)
      if (!following.isLate) following.begin(positions)
    } catch {
      // Redis is unavailable: the reader begins it, late, when Redis answers again.
      following.isLate = true
      reader.start([], following)
    }
  }

  return {
    async publish(event, epoch, { afterLoss = false } = {}) {
      const stream = streamOf(feedOfEvent(event))
      const names = [streams + stream, tops, starts, epochs, bytes, life, news]
      const fence = fencedFeed(event) === undefined ? '' : epoch
      const args: Word[] = [givenTime(), serverRun, stream, fence, encodeEvent(event), keptBytesMax, keptMs]
      const published = calls.script(scripts.publish, names, [...args, Number(afterLoss)])
      // Bars leave before the next message of a collector is decoded.
      if (event.type === 'bars') calls.flush()
      const position = await published
      return position === null ? { outcome: 'fenced' } : { outcome: 'published', position: Number(position) }
    },
    follow(follower) {
      const following = new Following(follower, log)
      followers.add(following)
      void begin(following)
      return () => void followers.delete(following)
    },
  }
}

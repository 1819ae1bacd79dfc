import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import { type Bus, type Delivered, type Follower, feedOfEvent, fencedFeed } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'

interface Waiting {
  readonly delivered: Delivered
  /** The followers at the time of publishing. */
  readonly followers: readonly Follower[]
  readonly done: () => void
}

/**
 * The bus of one process: no event is ever lost. `publish` resolves once all followers have received the event, so a
 * publisher that waits for it cannot overrun them.
 */
export function embeddedBus(clock: Clock, log: Log): Bus {
  const following = new Set<Follower>()
  const epochs = new Map<FeedKey, number>()
  const positions = new Map<FeedKey | undefined, number>()
  let waiting: Waiting[] = []
  /** Work of followers for delivered events. */
  let underWay: Promise<void> = Promise.resolve()

  const deliver = (): void => {
    const turn = waiting
    waiting = []
    for (const { delivered, followers, done } of turn) {
      for (const follower of followers) if (following.has(follower)) hand(follower, delivered)
      done()
    }
  }
  const hand = (follower: Follower, delivered: Delivered): void => {
    if (follower.wants === 'registry' && delivered.event.type !== 'registry') return
    try {
      const work = follower.deliver(delivered)
      if (work) underWay = Promise.all([underWay, work]).then(() => undefined)
    } catch (cause) {
      // A defect of one follower must not stop delivery to the others.
      log.error({ err: cause, event: delivered.event.type }, 'bus follower failed; delivery continues')
    }
  }

  return {
    publish(event, epoch) {
      const fenced = fencedFeed(event)
      if (fenced !== undefined) {
        if (epoch < (epochs.get(fenced) ?? epoch)) return Promise.resolve({ outcome: 'fenced' })
        epochs.set(fenced, epoch)
      }
      const feed = feedOfEvent(event)
      const position = (positions.get(feed) ?? 0) + 1
      positions.set(feed, position)
      if (waiting.length === 0) clock.soon(deliver)
      return new Promise((resolve) => {
        waiting.push({
          delivered: { position, event },
          followers: [...following],
          done: () => resolve({ outcome: 'published', position }),
        })
      })
    },
    follow(follower) {
      // A separate identity, even when one object follows twice.
      const own: Follower = {
        ...(follower.wants && { wants: follower.wants }),
        deliver: (delivered) => follower.deliver(delivered),
        lost: (feed, upTo) => follower.lost(feed, upTo),
      }
      following.add(own)
      return () => void following.delete(own)
    },
    handled: () => underWay,
  }
}

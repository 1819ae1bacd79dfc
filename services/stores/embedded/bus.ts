import type { FeedKey } from '../../core/compound-key.ts'
import type { Log } from '../../platform/log.ts'
import type { Bus, BusEvent, Delivered } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'

interface Follower {
  readonly deliver: (delivered: Delivered) => void
  /** Events up to here were published before it began. */
  readonly after: number
}

/**
 * The bus of one process. `publish` resolves once all followers have the event, so a publisher that
 * waits for it cannot outrun them.
 */
export function embeddedBus(clock: Clock, log: Log): Bus {
  const followers = new Set<Follower>()
  const epochs = new Map<FeedKey, number>()
  let position = 0
  let waiting: { readonly delivered: Delivered; readonly done: () => void }[] = []

  const deliver = (): void => {
    const turn = waiting
    waiting = []
    for (const { delivered, done } of turn) {
      for (const follower of followers) if (delivered.position > follower.after) hand(follower, delivered)
      done()
    }
  }
  const hand = (follower: Follower, delivered: Delivered): void => {
    try {
      follower.deliver(delivered)
    } catch (cause) {
      // One follower's defect must not cost the others their bars.
      log.error({ err: cause, event: delivered.event.type }, 'a follower of the bus failed')
    }
  }

  return {
    publish(event, epoch) {
      const feed = feedOf(event)
      if (feed !== undefined) {
        if (epoch < (epochs.get(feed) ?? epoch)) return Promise.resolve({ outcome: 'fenced' })
        epochs.set(feed, epoch)
      }
      position += 1
      const delivered = { position, event }
      if (waiting.length === 0) clock.soon(deliver)
      return new Promise((resolve) => {
        waiting.push({
          delivered,
          done: () => resolve({ outcome: 'published', position: delivered.position }),
        })
      })
    },
    follow(deliverTo) {
      const follower = { deliver: deliverTo, after: position }
      followers.add(follower)
      return () => void followers.delete(follower)
    },
  }
}

/** Events of the registry belong to no feed and are not fenced: their versions order them. */
function feedOf(event: BusEvent): FeedKey | undefined {
  if (event.type === 'registry') return undefined
  return event.type === 'revised' ? event.series.feed : event.feed
}

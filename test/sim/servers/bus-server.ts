import type { FeedKey } from '../../../services/core/feeds/compound-key.ts'
import {
  type Bus,
  type BusEvent,
  type Delivered,
  type Follower,
  feedOfEvent,
  fencedFeed,
} from '../../../services/ports/bus.ts'
import type { Network } from '../runtime/network.ts'
import type { SimProcess } from '../runtime/timeline.ts'

/** The lane of an event: that of its feed, or `undefined` for the registry. */
type Lane = FeedKey | undefined

interface Entry extends Delivered {
  /** Unique number of the publication: a failover may assign a position twice. */
  readonly mark: number
}

interface LaneLog {
  entries: Entry[]
  top: number
}

/** Poll interval of a follower; a publication also makes it poll. */
const lookMs = 2_500
const keptPerLane = 400
/** Range of positions of one generation: after the bus was emptied, all positions are greater. */
const positionsPerGeneration = 1_000_000

/** Planted defects of this server. */
export interface BusDefects {
  readonly hidesLoss?: boolean
}

/** The bus that all processes share: a log per feed that can be emptied, or lose its newest entries in a failover. */
export class BusServer {
  readonly #network: Network
  readonly #defects: BusDefects
  #lanes = new Map<Lane, LaneLog>()
  #epochs = new Map<FeedKey, number>()
  #generation = 1
  #marks = 0
  readonly #followers = new Set<() => void>()
  readonly #published: (event: BusEvent) => void

  /** `published` is called with every accepted event. */
  constructor(network: Network, defects: BusDefects, published: (event: BusEvent) => void) {
    this.#published = published
    this.#network = network
    this.#defects = defects
  }

  /** Called whenever events were lost. */
  onLoss: () => void = () => undefined

  /** Loses everything. */
  empty(): void {
    this.#generation += 1
    this.onLoss()
    this.#lanes = new Map()
    this.#epochs = new Map()
  }

  /** A replica without the newest `lost` entries of each lane takes over. */
  failOver(lost: number): void {
    this.onLoss()
    for (const lane of this.#lanes.values()) {
      const lostEntries = lane.entries.splice(Math.max(0, lane.entries.length - lost), lost)
      lane.top -= lostEntries.length
    }
  }

  /** The port for one process. */
  of(process: SimProcess): Bus {
    return {
      publish: (event, epoch, { afterLoss = false } = {}) =>
        this.#network.call(process, 'bus', `publish ${event.type}`, () =>
          this.#publish(event, epoch, afterLoss),
        ),
      follow: (follower) => this.#follow(process, follower),
    }
  }

  #publish(event: BusEvent, epoch: number, afterLoss: boolean) {
    const fenced = fencedFeed(event)
    if (fenced !== undefined) {
      const newest = this.#epochs.get(fenced) ?? epoch
      if (epoch < newest) return { outcome: 'fenced' } as const
      // A missing position, after which readers read the store: the publisher, or the one before it, lost events.
      if (epoch > newest || afterLoss) this.#lane(fenced).top += 1
      this.#epochs.set(fenced, epoch)
    }
    const lane = this.#lane(feedOfEvent(event))
    lane.top += 1
    lane.entries.push({ position: lane.top, event, mark: ++this.#marks })
    if (lane.entries.length > keptPerLane) lane.entries.shift()
    this.#published(event)
    for (const notice of this.#followers) notice()
    return { outcome: 'published', position: lane.top } as const
  }

  #lane(key: Lane): LaneLog {
    const lane = this.#lanes.get(key) ?? { entries: [], top: this.#generation * positionsPerGeneration }
    this.#lanes.set(key, lane)
    return lane
  }

  /** A follower whose position no longer exists gets a loss and continues at the newest position. */
  #follow(process: SimProcess, follower: Follower): () => void {
    const positions = new Map<Lane, Place>()
    for (const [key, lane] of this.#lanes) positions.set(key, topPosition(lane))
    let noticed = false
    const stop = process.clock.every(lookMs, () => this.#look(process, follower, positions))
    const notice = (): void => {
      if (noticed) return
      noticed = true
      process.clock.after(this.#network.delayMs(), () => {
        noticed = false
        if (this.#followers.has(notice)) this.#look(process, follower, positions)
      })
    }
    this.#followers.add(notice)
    return () => {
      stop()
      this.#followers.delete(notice)
    }
  }

  #look(process: SimProcess, follower: Follower, positions: Map<Lane, Place>): void {
    if (this.#network.isCut(process.name, 'bus')) return
    for (const key of new Set([...positions.keys(), ...this.#lanes.keys()])) {
      const lane = this.#lane(key)
      const place = positions.get(key) ?? { position: 0, mark: 0 }
      if (isGone(place, lane)) {
        positions.set(key, topPosition(lane))
        const upTo = Math.max(lane.top, place.position)
        if (key !== undefined && !this.#defects.hidesLoss) follower.lost(key, upTo)
        continue
      }
      const fresh = lane.entries.filter(({ position }) => position > place.position)
      let expected = place.position + 1
      for (const { position, event, mark } of fresh) {
        positions.set(key, { position, mark })
        const isJump = position > expected && place.position > 0
        if (isJump && key !== undefined && !this.#defects.hidesLoss) follower.lost(key, position - 1)
        void follower.deliver({ position, event })
        expected = position + 1
      }
    }
  }
}

interface Place {
  readonly position: number
  readonly mark: number
}

const topPosition = ({ top, entries }: LaneLog): Place => ({ position: top, mark: entries.at(-1)?.mark ?? 0 })

/** Whether the last entry seen, or one that followed it, is no longer in the log. */
function isGone(place: Place, { entries, top }: LaneLog): boolean {
  if (top < place.position) return true
  const first = entries[0]
  if (place.mark === 0)
    return first !== undefined && place.position > 0 && first.position > place.position + 2
  if (entries.some(({ mark }) => mark === place.mark)) return false
  return first === undefined || first.position > place.position + 2 || first.mark < place.mark
}

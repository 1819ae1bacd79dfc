import type { FeedKey } from '../../services/core/feeds/compound-key.ts'
import {
  type Bus,
  type BusEvent,
  type Delivered,
  type Follower,
  feedOfEvent,
  fencedFeed,
} from '../../services/ports/bus.ts'
import type { Network } from './network.ts'
import type { Life } from './timeline.ts'

/** The lane of an event: its feed's, or the registry's. */
type Lane = FeedKey | undefined

interface Entry extends Delivered {
  /** Which publication this is: a position may be given twice, before and after a failover. */
  readonly mark: number
}

interface LaneLog {
  entries: Entry[]
  top: number
}

/** A follower looks when something was published, and so often without being told. */
const lookMs = 2_500
const keptPerLane = 400
/** Positions of a later life of the bus are always greater. */
const lifePositions = 1_000_000

/** Lets a planted defect spoil a part. */
export interface BusDefects {
  readonly neverTellsLoss?: boolean
}

/** The bus as the processes share it: a log per feed that may be emptied, or lose its newest entries in a failover. */
export class BusServer {
  readonly #network: Network
  readonly #defects: BusDefects
  #lanes = new Map<Lane, LaneLog>()
  #epochs = new Map<FeedKey, number>()
  #life = 1
  #marks = 0
  readonly #followers = new Set<() => void>()
  readonly #published: (event: BusEvent) => void

  /** `published` hears of every event that was taken. */
  constructor(network: Network, defects: BusDefects, published: (event: BusEvent) => void) {
    this.#published = published
    this.#network = network
    this.#defects = defects
  }

  /** Told whenever events were lost. */
  onLoss: () => void = () => undefined

  /** Everything is forgotten. */
  empty(): void {
    this.#life += 1
    this.onLoss()
    this.#lanes = new Map()
    this.#epochs = new Map()
  }

  /** A replica that had not seen the newest entries takes over. */
  failOver(lost: number): void {
    this.onLoss()
    for (const lane of this.#lanes.values()) {
      const gone = lane.entries.splice(Math.max(0, lane.entries.length - lost), lost)
      lane.top -= gone.length
    }
  }

  /** The port as one process sees it. */
  of(life: Life): Bus {
    return {
      publish: (event, epoch) =>
        this.#network.call(life, 'bus', `publish ${event.type}`, () => this.#publish(event, epoch)),
      follow: (follower) => this.#follow(life, follower),
    }
  }

  #publish(event: BusEvent, epoch: number) {
    const fenced = fencedFeed(event)
    if (fenced !== undefined) {
      const newest = this.#epochs.get(fenced) ?? epoch
      if (epoch < newest) return { outcome: 'fenced' } as const
      // A newer publisher leaves one position out: readers look for what its predecessor did not tell.
      if (epoch > newest) this.#lane(fenced).top += 1
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
    const lane = this.#lanes.get(key) ?? { entries: [], top: this.#life * lifePositions }
    this.#lanes.set(key, lane)
    return lane
  }

  /** A follower that finds its place gone, in whatever way, is told so and goes on at the top. */
  #follow(life: Life, follower: Follower): () => void {
    const places = new Map<Lane, Place>()
    for (const [key, lane] of this.#lanes) places.set(key, placeAtTop(lane))
    let noticed = false
    const stop = life.clock.every(lookMs, () => this.#look(life, follower, places))
    const notice = (): void => {
      if (noticed) return
      noticed = true
      life.clock.after(this.#network.delayMs(), () => {
        noticed = false
        if (this.#followers.has(notice)) this.#look(life, follower, places)
      })
    }
    this.#followers.add(notice)
    return () => {
      stop()
      this.#followers.delete(notice)
    }
  }

  #look(life: Life, follower: Follower, places: Map<Lane, Place>): void {
    if (this.#network.isCut(life.name, 'bus')) return
    for (const key of new Set([...places.keys(), ...this.#lanes.keys()])) {
      const lane = this.#lane(key)
      const place = places.get(key) ?? { position: 0, mark: 0 }
      if (isGone(place, lane)) {
        places.set(key, placeAtTop(lane))
        const upTo = Math.max(lane.top, place.position)
        if (key !== undefined && !this.#defects.neverTellsLoss) follower.lost(key, upTo)
        continue
      }
      const fresh = lane.entries.filter(({ position }) => position > place.position)
      let expected = place.position + 1
      for (const { position, event, mark } of fresh) {
        places.set(key, { position, mark })
        const isJump = position > expected && place.position > 0
        if (isJump && key !== undefined && !this.#defects.neverTellsLoss) follower.lost(key, position - 1)
        follower.deliver({ position, event })
        expected = position + 1
      }
    }
  }
}

interface Place {
  readonly position: number
  readonly mark: number
}

const placeAtTop = ({ top, entries }: LaneLog): Place => ({ position: top, mark: entries.at(-1)?.mark ?? 0 })

/** Whether the entry last seen, or one that followed it, is no longer there. */
function isGone(place: Place, { entries, top }: LaneLog): boolean {
  if (top < place.position) return true
  const first = entries[0]
  if (place.mark === 0)
    return first !== undefined && place.position > 0 && first.position > place.position + 2
  if (entries.some(({ mark }) => mark === place.mark)) return false
  return first === undefined || first.position > place.position + 2 || first.mark < place.mark
}

import type { CompoundKey } from '../../services/core/feeds/compound-key.ts'
import { note, SimSocket } from './client.ts'
import type { SocketRecord } from './record.ts'
import type { Shard } from './roles.ts'
import { type keys, symbols, type World } from './world.ts'

const pingMs = 20_000
const upgradeMsMax = 6_000
/** Two pings without an answer, and a little. */
const silenceMsMax = 45_000

/** A well-behaved client: connects again with jitter, subscribes again, and half of them ask for what they missed. */
export class SimClient {
  readonly name: string
  readonly symbols: readonly CompoundKey[]
  socket: SocketRecord | undefined
  readonly #world: World
  readonly #key: (typeof keys)[number]
  readonly #resumes: boolean
  readonly #visits: boolean
  readonly #markers: boolean
  readonly #last = new Map<string, number>()
  #line: { readonly socket: SimSocket; readonly shard: Shard } | undefined
  #heardMs = 0
  #connections = 0

  /** `visits`: comes for a while, and again after the bus lost something; of some symbols it is the only one to ask. */
  constructor(world: World, name: string, key: (typeof keys)[number], visits = false) {
    this.#world = world
    this.#key = key
    this.#visits = visits
    this.#resumes = visits || world.chance.is(0.5)
    this.#markers = world.chance.is(0.5)
    this.name = `${visits ? 'visiting' : this.#resumes ? 'resuming' : 'plain'} ${name}`
    const shared = world.hasLonelySymbol ? symbols.filter((_, i) => i !== 1) : symbols
    this.symbols = visits ? symbols : world.chance.is(0.5) ? shared : shared.slice(0, 2)
  }

  get open(): boolean {
    return this.#line !== undefined
  }

  /** As its shard sees it: a client that is cut off learns later that it was closed. */
  get holdsSlot(): boolean {
    return this.#line !== undefined && this.#line.shard.life.alive && this.#line.socket.readyState === 1
  }

  get key(): string {
    return this.#key.id
  }

  begin(): void {
    this.#again(0)
  }

  /** Comes again when the bus loses something, a minute later, or after a while. */
  #awaitLoss(): void {
    const { timeline, chance } = this.#world
    let isBack = false
    const comeBack = (): void => {
      if (!isBack) this.#again(chance.is(0.5) ? 0 : 65_000)
      isBack = true
    }
    this.#world.atNextLoss(comeBack)
    timeline.at(60_000 + chance.next() * 60_000, comeBack)
  }

  #again(afterMs: number): void {
    const { timeline, chance } = this.#world
    timeline.at(afterMs + chance.next() * 2_000, () => void this.#connect())
  }

  async #connect(): Promise<void> {
    const { chance, network, timeline, shards, record } = this.#world
    const shard = chance.pick([...shards.values()])
    if (!shard.life.alive) return this.#again(1_000)
    this.#connections += 1
    const seen: SocketRecord = {
      id: `${this.name}#${this.#connections}`,
      since: new Map(),
      seen: [],
      closed: false,
    }
    const socket = new SimSocket(shard.life, this.name, network, timeline, {
      deliver: (text) => this.#hear(seen, text),
      gone: () => this.#gone(seen),
    })
    const caller = { key: this.#key, digest: this.#key.id, address: '127.0.0.1', sessionId: seen.id }
    const late = new Promise<boolean>((resolve) => timeline.at(upgradeMsMax, () => resolve(false)))
    const entered = shard.enter(caller, socket).then(
      () => true,
      () => false,
    )
    if (!(await Promise.race([entered, late]))) {
      // It may get in after all: nobody is there any more.
      void entered.then((is) => is && socket.emit('close'))
      return this.#again(1_000)
    }
    record.sockets.push(seen)
    this.socket = seen
    this.#line = { socket, shard }
    this.#heardMs = timeline.nowMs
    this.#world.entered(this)
    this.#subscribe()
    this.#watch(seen)
  }

  #subscribe(): void {
    const since = this.#resumes
      ? Object.fromEntries(this.symbols.flatMap((symbol) => this.#since(symbol)))
      : undefined
    this.#line?.socket.say(
      JSON.stringify({ action: 'subscribe', symbols: this.symbols, since, markers: this.#markers }),
    )
  }

  #since(symbol: string): [string, number][] {
    const last = this.#last.get(symbol)
    return last === undefined ? [] : [[symbol, last]]
  }

  #hear(seen: SocketRecord, text: string): void {
    this.#heardMs = this.#world.timeline.nowMs
    const before = seen.seen.length
    note(seen, text, this.#world.feedNow)
    const [bar] = seen.seen.slice(before)
    // The catalogue comes with the first collector.
    if (bar?.type === 'subscribed' && bar.symbols.length < this.symbols.length)
      this.#world.timeline.at(3_000, () => this.socket === seen && this.#subscribe())
    if (bar?.type === 'bar')
      this.#last.set(bar.symbol, Math.max(bar.bar.time, this.#last.get(bar.symbol) ?? 0))
  }

  /** Pings, and leaves when nothing is heard, or for no reason at all. */
  #watch(seen: SocketRecord): void {
    const { timeline, chance } = this.#world
    timeline.at(pingMs * (0.5 + chance.next() / 2), () => {
      if (this.socket !== seen || seen.closed || !this.#line) return
      const { socket, shard } = this.#line
      const isSilent = timeline.nowMs - this.#heardMs > silenceMsMax
      if (!shard.life.alive || isSilent || (this.#world.troubled && chance.is(this.#visits ? 0.5 : 0.05))) {
        timeline.at(this.#world.network.delayMs(), () => shard.life.alive && socket.emit('close'))
        return this.#gone(seen)
      }
      socket.say('{"action":"ping"}')
      this.#watch(seen)
    })
  }

  /** The connection broke, as when its shard died. */
  lost(shard: Shard): void {
    if (this.#line?.shard === shard && this.socket) this.#gone(this.socket)
  }

  #gone(seen: SocketRecord): void {
    if (seen.closed) return
    seen.closed = true
    if (this.socket !== seen) return
    this.#line = undefined
    if (this.#visits && this.#world.troubled) this.#awaitLoss()
    else this.#again(500)
  }
}

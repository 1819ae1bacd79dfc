import type { CompoundKey } from '../../services/core/feeds/compound-key.ts'
import type { SocketRecord } from './checks/record.ts'
import { note, SimSocket } from './client.ts'
import type { Shard } from './roles.ts'
import { type keys, type Simulation, symbols } from './simulation.ts'

const pingMs = 20_000
const upgradeMsMax = 6_000
/** Maximum time without a frame: two unanswered pings and a margin. */
const silenceMsMax = 45_000

/** A correct client: reconnects with jitter, subscribes again, and in half of the cases requests missed bars. */
export class SimClient {
  readonly name: string
  readonly symbols: readonly CompoundKey[]
  socket: SocketRecord | undefined
  readonly #simulation: Simulation
  readonly #key: (typeof keys)[number]
  readonly #resumes: boolean
  readonly #visits: boolean
  readonly #markers: boolean
  readonly #last = new Map<string, number>()
  #connection: { readonly socket: SimSocket; readonly shard: Shard } | undefined
  #lastFrameMs = 0
  #connections = 0

  /** `visits`: connects for short times, and again after a loss of the bus. Some symbols have only such clients. */
  constructor(simulation: Simulation, name: string, key: (typeof keys)[number], visits = false) {
    this.#simulation = simulation
    this.#key = key
    this.#visits = visits
    this.#resumes = visits || simulation.chance.is(0.5)
    this.#markers = simulation.chance.is(0.5)
    this.name = `${visits ? 'visiting' : this.#resumes ? 'resuming' : 'plain'} ${name}`
    const shared = simulation.hasLonelySymbol ? symbols.filter((_, i) => i !== 1) : symbols
    this.symbols = visits ? symbols : simulation.chance.is(0.5) ? shared : shared.slice(0, 2)
  }

  get open(): boolean {
    return this.#connection !== undefined
  }

  /** Whether its shard counts it: a client that is cut off detects the close later. */
  get hasSlot(): boolean {
    return (
      this.#connection !== undefined &&
      this.#connection.shard.process.alive &&
      this.#connection.socket.readyState === 1
    )
  }

  get key(): string {
    return this.#key.id
  }

  start(): void {
    this.#reconnect(0)
  }

  /** Reconnects after the next loss of the bus (at once or a minute later), or after one to two minutes. */
  #reconnectAfterLoss(): void {
    const { timeline, chance } = this.#simulation
    let isDone = false
    const reconnect = (): void => {
      if (!isDone) this.#reconnect(chance.is(0.5) ? 0 : 65_000)
      isDone = true
    }
    this.#simulation.onNextLoss(reconnect)
    timeline.at(60_000 + chance.next() * 60_000, reconnect)
  }

  #reconnect(afterMs: number): void {
    const { timeline, chance } = this.#simulation
    timeline.at(afterMs + chance.next() * 2_000, () => void this.#connect())
  }

  async #connect(): Promise<void> {
    const { chance, network, timeline, shards, record } = this.#simulation
    const shard = chance.pick([...shards.values()])
    if (!shard.process.alive) return this.#reconnect(1_000)
    this.#connections += 1
    const seen: SocketRecord = {
      id: `${this.name}#${this.#connections}`,
      since: new Map(),
      seen: [],
      closed: false,
    }
    const socket = new SimSocket(shard.process, this.name, network, timeline, {
      deliver: (text) => this.#receive(seen, text),
      closed: () => this.#disconnected(seen),
    })
    const caller = { key: this.#key, digest: this.#key.id, address: '127.0.0.1', sessionId: seen.id }
    const late = new Promise<boolean>((resolve) => timeline.at(upgradeMsMax, () => resolve(false)))
    const entered = shard.enter(caller, socket).then(
      () => true,
      () => false,
    )
    if (!(await Promise.race([entered, late]))) {
      // A late upgrade may still succeed; its client has given up.
      void entered.then((is) => is && socket.emit('close'))
      return this.#reconnect(1_000)
    }
    record.sockets.push(seen)
    this.socket = seen
    this.#connection = { socket, shard }
    this.#lastFrameMs = timeline.nowMs
    this.#simulation.checkCap(this)
    this.#subscribe()
    this.#watch(seen)
  }

  #subscribe(): void {
    const since = this.#resumes
      ? Object.fromEntries(this.symbols.flatMap((symbol) => this.#since(symbol)))
      : undefined
    this.#connection?.socket.sendAsClient(
      JSON.stringify({ action: 'subscribe', symbols: this.symbols, since, markers: this.#markers }),
    )
  }

  #since(symbol: string): [string, number][] {
    const last = this.#last.get(symbol)
    return last === undefined ? [] : [[symbol, last]]
  }

  #receive(seen: SocketRecord, text: string): void {
    this.#lastFrameMs = this.#simulation.timeline.nowMs
    const before = seen.seen.length
    note(seen, text, this.#simulation.feedNow)
    const [bar] = seen.seen.slice(before)
    // Before the first collector has sent the catalogue, the symbols are unknown.
    if (bar?.type === 'subscribed' && bar.symbols.length < this.symbols.length)
      this.#simulation.timeline.at(3_000, () => this.socket === seen && this.#subscribe())
    if (bar?.type === 'bar')
      this.#last.set(bar.symbol, Math.max(bar.bar.time, this.#last.get(bar.symbol) ?? 0))
  }

  /** Pings. Disconnects after silence, and at random while there are faults. */
  #watch(seen: SocketRecord): void {
    const { timeline, chance } = this.#simulation
    timeline.at(pingMs * (0.5 + chance.next() / 2), () => {
      if (this.socket !== seen || seen.closed || !this.#connection) return
      const { socket, shard } = this.#connection
      const isSilent = timeline.nowMs - this.#lastFrameMs > silenceMsMax
      if (
        !shard.process.alive ||
        isSilent ||
        (this.#simulation.hasFaults && chance.is(this.#visits ? 0.5 : 0.05))
      ) {
        timeline.at(this.#simulation.network.delayMs(), () => shard.process.alive && socket.emit('close'))
        return this.#disconnected(seen)
      }
      socket.sendAsClient('{"action":"ping"}')
      this.#watch(seen)
    })
  }

  /** Breaks the connection, if it is to this shard. */
  disconnect(shard: Shard): void {
    if (this.#connection?.shard === shard && this.socket) this.#disconnected(this.socket)
  }

  #disconnected(seen: SocketRecord): void {
    if (seen.closed) return
    seen.closed = true
    if (this.socket !== seen) return
    this.#connection = undefined
    if (this.#visits && this.#simulation.hasFaults) this.#reconnectAfterLoss()
    else this.#reconnect(500)
  }
}

import {
  type ChannelOptions,
  type ClientDuplexStream,
  type Metadata,
  type StatusObject,
  status,
} from '@grpc/grpc-js'
import { barsOf } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { Resolution } from '../../../services/core/feeds/resolution.ts'
import { type ClientIdentity, callMetadata, channelCredentials } from '../../../services/wire/client.ts'
import type { Ack__Output } from '../../../services/wire/gen/fxd/v1/Ack.ts'
import type { CatalogueSymbol } from '../../../services/wire/gen/fxd/v1/CatalogueSymbol.ts'
import type { CollectorMessage } from '../../../services/wire/gen/fxd/v1/CollectorMessage.ts'
import type { IngestMessage__Output } from '../../../services/wire/gen/fxd/v1/IngestMessage.ts'
import type { RefusedBar__Output } from '../../../services/wire/gen/fxd/v1/RefusedBar.ts'
import type { SeriesBars } from '../../../services/wire/gen/fxd/v1/SeriesBars.ts'
import { Collector } from '../../../services/wire/load.ts'
import { testToken } from '../fixtures/ingest-fixture.ts'
import { encodeSeries } from '../samples/encode-series.ts'

type Kind = NonNullable<IngestMessage__Output['message']>

/** A collector that sends exactly the messages of a test and records all answers. */
export class RawSession {
  readonly received: IngestMessage__Output[] = []
  readonly stream: ClientDuplexStream<CollectorMessage, IngestMessage__Output>
  /** Resolves at the end of the session with the name and the details of its status. */
  readonly ended: Promise<{ code: string; details: string }>
  readonly #client: InstanceType<typeof Collector>
  readonly #metadata: Metadata
  #sequence = 0
  #revision = 0
  #waiting: (() => void)[] = []
  #over = false

  constructor(
    address: string,
    credentials: string | ClientIdentity = testToken,
    channelOptions: ChannelOptions = {},
  ) {
    const identity =
      typeof credentials === 'string' ? { token: credentials === '' ? undefined : credentials } : credentials
    // A separate connection, like every collector.
    const options = { ...channelOptions, 'grpc.use_local_subchannel_pool': 1 }
    this.#client = new Collector(address, channelCredentials(identity), options)
    this.#metadata = callMetadata(identity)
    this.stream = this.#client.Session(this.#metadata)
    this.stream.on('data', (message: IngestMessage__Output) => {
      this.received.push(message)
      this.#wake()
    })
    // The status event has the same information.
    this.stream.on('error', () => undefined)
    this.ended = new Promise((resolve) => {
      this.stream.on('status', ({ code, details }: StatusObject) => {
        this.#over = true
        this.#wake()
        resolve({ code: status[code] ?? '', details })
        this.#client.close()
      })
    })
  }

  /** Opens another session on the same connection. Resolves with the details of its end. */
  another(): Promise<string> {
    const stream = this.#client.Session(this.#metadata).on('error', () => undefined)
    return new Promise((resolve) => stream.on('status', ({ details }) => resolve(details)))
  }

  send(message: CollectorMessage): void {
    this.stream.write(message)
  }

  nextSequence(): number {
    this.#sequence += 1
    return this.#sequence
  }

  /** Resolves with the first received message that fits, now or later. Rejects if the session ends. */
  async find(fits: (message: IngestMessage__Output) => boolean): Promise<IngestMessage__Output> {
    for (;;) {
      const found = this.received.find(fits)
      if (found) return found
      if (this.#over) throw new Error(`the session ended: ${JSON.stringify(await this.ended)}`)
      await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    }
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume()
  }

  async next<K extends Kind>(kind: K): Promise<NonNullable<IngestMessage__Output[K]>> {
    const found = await this.find((message) => message.message === kind)
    return found[kind] as NonNullable<IngestMessage__Output[K]>
  }

  /**
   * Sends Hello as a live collector or an import and waits for the last Known. Then sends an empty catalogue (the
   * symbols are those of the manifest) and waits until the session is active. `isCatalogued` false: no catalogue.
   */
  async hello(feed: string, options: HelloOptions = {}) {
    const { mode = 'LIVE', id = 'collector-1', rereadable = true, isCatalogued = true } = options
    this.send({
      hello: {
        feed,
        collectorId: id,
        mode: `SESSION_MODE_${mode}`,
        terminal: 'raw',
        capabilities: rereadable ? ['CAPABILITY_REREADABLE'] : [],
      },
    })
    await this.find(({ known }) => known?.last === true)
    if (isCatalogued) await this.catalogue([], { snapshot: false })
    return this.find(({ welcome }) => welcome?.active === true)
  }

  async catalogue(
    symbols: readonly CatalogueSymbol[],
    options: { snapshot?: boolean; removed?: string[] } = {},
  ) {
    this.#revision += 1
    const revision = this.#revision
    const { snapshot = true, removed = [] } = options
    this.send({ catalogue: { revision, snapshot, last: true, symbols: [...symbols], removed } })
    const isOurs = (message: IngestMessage__Output): boolean => message.catalogued?.revision === revision
    await this.find((message) => isOurs(message) && message.catalogued?.last === true)
    const parts = this.received.filter(isOurs).flatMap(({ catalogued }) => (catalogued ? [catalogued] : []))
    return {
      names: parts.flatMap(({ names }) => names),
      refused: parts.flatMap(({ refused }) => refused),
    }
  }

  /** Sends one batch and waits for its Ack. */
  async bars(lane: 'LIVE' | 'BACKFILL', series: readonly SeriesBars[]): Promise<Answer> {
    return this.answer(this.post(lane, series))
  }

  /** Sends one batch; returns its sequence. */
  post(lane: 'LIVE' | 'BACKFILL', series: readonly SeriesBars[]): number {
    const sequence = this.nextSequence()
    this.send({ bars: { sequence, lane: `LANE_${lane}`, series: [...series] } })
    return sequence
  }

  async window(resolution: Resolution, from: number, to: number, symbol = ''): Promise<Answer> {
    return this.answer(this.postWindow(resolution, from, to, symbol))
  }

  /** Sends one window; returns its sequence. */
  postWindow(resolution: Resolution, from: number, to: number, symbol = ''): number {
    const sequence = this.nextSequence()
    this.send({ window: { sequence, symbol, resolution, from, to } })
    return sequence
  }

  async answer(sequence: number): Promise<Answer> {
    const { ack } = await this.find((message) => message.ack?.sequence === sequence)
    return { ack: ack as Ack__Output, refused: this.refused(sequence) }
  }

  refused(sequence: number): RefusedBar__Output[] {
    return this.received.flatMap(({ refused }) => (refused?.sequence === sequence ? refused.bars : []))
  }

  async close(): Promise<void> {
    this.stream.end()
    await this.ended
  }
}

interface HelloOptions {
  readonly mode?: 'LIVE' | 'IMPORT'
  readonly id?: string
  readonly rereadable?: boolean
  readonly isCatalogued?: boolean
}

export interface Answer {
  readonly ack: Ack__Output
  readonly refused: readonly RefusedBar__Output[]
}

/** An encoded series with equal bars at the given times. */
export function seriesAt(
  symbol: string,
  times: readonly number[],
  options: {
    resolution?: Resolution
    scale?: number
    revision?: number
    close?: number
    volume?: number
  } = {},
): SeriesBars {
  const { resolution = '1', scale = 5, revision = 1_000_000_000_000, close = 1.1, volume = 7 } = options
  const bars = times.map((time) => ({
    time: feedSeconds(time),
    open: 1.1,
    high: Math.max(1.1, close) + 0.5,
    low: 0.5,
    close,
    volume,
    revision,
  }))
  return encodeSeries({ symbol, resolution, scale }, barsOf(bars))
}

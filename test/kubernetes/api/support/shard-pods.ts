import type { KubeObject } from '../../../../operator/kube/object.ts'
import { type Pod, poolLabel, resources } from '../../../../operator/kube/resources.ts'
import { silentLog } from '../../../../services/platform/log/log.ts'
import {
  createShardServer,
  type ShardServer,
  type ShardServerDeps,
} from '../../../../services/stream/shard/server.ts'
import { openStreamFixture, type StreamFixture } from '../../../support/fixtures/stream-fixture.ts'
import { type Setting, shardToken } from './setting.ts'

const lookEveryMs = 100
/** Virtual time per load call while a shard drains. Otherwise its time stands still, because idle sockets are closed. */
const stepMs = 1_000

/** A pool whose shards listen on this port for the operator. */
export const shardPool = (port: number) => ({
  drain: { seconds: 20, maxAtOnce: 1 },
  template: {
    metadata: { labels: { 'app.kubernetes.io/component': 'stream' } },
    spec: {
      containers: [
        {
          name: 'stream',
          image: 'fxd:test',
          args: ['stream'],
          ports: [{ name: 'grpc', containerPort: port }],
        },
      ],
    },
  },
})

interface RunningShard {
  readonly stream: StreamFixture
  readonly server: ShardServer
  readonly secret: string
}

/** Runs a real shard for each pod of a pool, as a node would, each on a separate loopback address. */
export class ShardPods {
  readonly #setting: Setting
  readonly #port: number
  readonly #running = new Map<string, RunningShard>()
  #addresses = 0
  #isOpen = true
  readonly #loop: Promise<void>
  /** Sockets that were open when their pod was deleted. */
  cutSockets = 0
  /** Called after each call that starts or ends a drain. */
  afterDrainCall: () => void = () => undefined

  constructor(setting: Setting, port: number) {
    this.#setting = setting
    this.#port = port
    this.#loop = this.#run()
  }

  /** Names of the running pods, oldest first. */
  get names(): readonly string[] {
    return [...this.#running.keys()]
  }

  /** Opens sockets to one shard. */
  async connect(name: string, count: number): Promise<void> {
    const { stream, secret } = this.#of(name)
    for (let i = 0; i < count; i++) await stream.connect(secret)
  }

  connections = (name: string): number => this.#of(name).stream.stream.load().connections

  /** Makes the shard run without answering calls. */
  mute(name: string): void {
    this.#of(name).server.close()
  }

  async close(): Promise<void> {
    this.#isOpen = false
    await this.#loop
    for (const name of this.names) await this.#end(name)
  }

  async #run(): Promise<void> {
    while (this.#isOpen) {
      const pods = (await this.#setting.list<Pod>(resources.pods)).filter(
        ({ metadata }) => metadata.labels?.[poolLabel] !== undefined,
      )
      for (const name of this.names) {
        if (pods.some(({ metadata }) => metadata.name === name)) continue
        this.cutSockets += this.connections(name)
        await this.#end(name)
      }
      for (const { metadata } of pods) if (!this.#running.has(metadata.name)) await this.#begin(metadata.name)
      for (const { stream } of this.#running.values())
        if (stream.stream.draining.isOn) await stream.clock.advance(stepMs)
      await new Promise((resolve) => void setTimeout(resolve, lookEveryMs))
    }
  }

  async #begin(name: string): Promise<void> {
    // Second 10 of a minute.
    const stream = await openStreamFixture({ start: 1_767_600_010_000 })
    const server = createShardServer({
      stream: this.#watched(stream.stream),
      notReady: () => stream.stream.notReady(),
      tokens: () => [shardToken],
      log: silentLog,
    })
    const host = `127.0.1.${++this.#addresses}`
    await server.listen(host, this.#port)
    this.#running.set(name, { stream, server, secret: (await stream.issue()).secret })
    const now = new Date().toISOString()
    await this.#setting.admin.patch<KubeObject>(`${this.#setting.path(resources.pods, name)}/status`, {
      status: {
        phase: 'Running',
        podIP: host,
        podIPs: [{ ip: host }],
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
      },
    })
  }

  #watched({ draining, load, onFault }: StreamFixture['stream']): ShardServerDeps['stream'] {
    const called = <T>(given: T): T => {
      this.afterDrainCall()
      return given
    }
    const watched = {
      get isOn() {
        return draining.isOn
      },
      get leftMs() {
        return draining.leftMs
      },
      start: (withinMs: number) => called(draining.start(withinMs)),
      startForEnd: (withinMs: number) => draining.startForEnd(withinMs),
      cancel: () => called(draining.cancel()),
    }
    return { load, onFault, draining: watched }
  }

  async #end(name: string): Promise<void> {
    const { stream, server } = this.#of(name)
    this.#running.delete(name)
    server.close()
    await stream.close()
  }

  #of(name: string): RunningShard {
    const found = this.#running.get(name)
    if (found === undefined) throw new Error(`no pod ${name} runs`)
    return found
  }
}

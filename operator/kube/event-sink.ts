import type { Log } from '../../services/platform/log/log.ts'
import type { Clock } from '../../services/platform/system-clock.ts'
import type { KubeApi } from './api.ts'
import { microTimeText } from './condition.ts'
import type { KubeObject } from './object.ts'
import { apiVersionOf, resources } from './resources.ts'

const noteLengthMax = 1_000
/** Minimum interval between equal Events of one object. */
const againMs = 600_000
/** Maximum Events remembered, so that equal ones are not written again; the oldest are forgotten. */
const rememberedMax = 2_000
/** Maximum Events in `burstMs`; further Events are dropped. */
const burstMax = 60
const burstMs = 60_000

export interface EventText {
  readonly type: 'Normal' | 'Warning'
  /** One word in CamelCase. */
  readonly reason: string
  /** The operator's action, one word. */
  readonly action: string
  readonly note: string
}

interface EventSinkDeps {
  readonly api: Pick<KubeApi, 'create'>
  readonly namespace: string
  readonly identity: string
  readonly clock: Clock
  readonly log: Log
  readonly dropped: () => void
}

/** Writes Kubernetes Events: equal ones once in ten minutes, with a limit per minute. Losing one has no effect. */
export class EventSink {
  readonly #deps: EventSinkDeps
  readonly #written = new Map<string, number>()
  #burst = { sinceMs: 0, count: 0 }

  constructor(deps: EventSinkDeps) {
    this.#deps = deps
  }

  record(kind: string, about: KubeObject, text: EventText): void {
    const { clock, dropped, log } = this.#deps
    const nowMs = clock.monotonicMs()
    const id = `${about.metadata.uid} ${text.reason} ${text.note}`
    const lastMs = this.#written.get(id)
    if (lastMs !== undefined && nowMs - lastMs < againMs) return
    if (nowMs - this.#burst.sinceMs >= burstMs) this.#burst = { sinceMs: nowMs, count: 0 }
    if (this.#burst.count >= burstMax) return dropped()
    this.#burst.count += 1
    this.#remember(id, nowMs)
    this.#write(kind, about, text).catch((cause: unknown) => {
      dropped()
      log.debug({ err: cause, reason: text.reason }, 'failed to write an Event; dropped it')
    })
  }

  #remember(id: string, nowMs: number): void {
    this.#written.delete(id)
    this.#written.set(id, nowMs)
    const [oldest] = this.#written.keys()
    if (this.#written.size > rememberedMax && oldest !== undefined) this.#written.delete(oldest)
  }

  async #write(kind: string, about: KubeObject, { type, reason, action, note }: EventText): Promise<void> {
    const { api, namespace, identity, clock } = this.#deps
    const { name, uid = '', resourceVersion = '' } = about.metadata
    await api.create(resources.events, {
      apiVersion: apiVersionOf(resources.events),
      kind: 'Event',
      metadata: { name: `${name}.${clock.randomHex(8)}` },
      eventTime: microTimeText(clock.utcMs()),
      reportingController: 'fxd-operator',
      reportingInstance: identity,
      action,
      reason,
      type,
      note: note.slice(0, noteLengthMax),
      regarding: { apiVersion: about.apiVersion, kind, name, namespace, uid, resourceVersion },
    } as KubeObject)
  }
}

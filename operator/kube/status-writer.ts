import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../services/platform/system-clock.ts'
import type { KubeApi } from './api.ts'
import { type Condition, readyOf } from './condition.ts'
import type { EventSink } from './event-sink.ts'
import { type KubeObject, type OwnKind, retain } from './object.ts'
import { apiVersionOf } from './resources.ts'

interface Status {
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
}

interface Written {
  readonly status: Status
  /** `resourceVersion` before the write. While the cache shows it, the cache does not contain the write yet. */
  readonly basedOn: string | undefined
  readonly atMs: number
}

interface StatusOptions<S> {
  /** Fields that change often. A change of these alone is written at most every `everyMs`. */
  readonly frequent: readonly (keyof S)[]
  readonly everyMs: number
  /** Reasons of a False Ready condition that somebody asked for, such as new pods; their Events are Normal. */
  readonly routine: readonly string[]
  /** Reasons while pods start. Events are Normal if the object changed or was not ready before. */
  readonly starting: readonly string[]
}

interface StatusWriterDeps {
  readonly api: Pick<KubeApi, 'applyStatus'>
  readonly events: EventSink
  readonly clock: Clock
}

/** Writes the status of the objects of one kind, and an Event when the reason of Ready changes. */
export class StatusWriter<S extends Status> {
  readonly #of: OwnKind
  readonly #options: StatusOptions<S>
  readonly #deps: StatusWriterDeps
  readonly #written = new Map<string, Written>()

  constructor(of: OwnKind, options: StatusOptions<S>, deps: StatusWriterDeps) {
    this.#of = of
    this.#options = options
    this.#deps = deps
  }

  /** Writes nothing when the object has this status already. */
  async write(object: KubeObject & { readonly status?: S }, status: S): Promise<void> {
    const { name, uid = '', resourceVersion } = object.metadata
    const last = this.#written.get(uid)
    const had = last && last.basedOn === resourceVersion ? (last.status as S) : object.status
    if (isDeepStrictEqual(plain(had), plain(status))) return
    const nowMs = this.#deps.clock.monotonicMs()
    const isSoon = last !== undefined && nowMs - last.atMs < this.#options.everyMs
    if (isSoon && isDeepStrictEqual(this.#withoutFrequent(had), this.#withoutFrequent(status))) return
    await this.#deps.api.applyStatus(this.#of, {
      apiVersion: apiVersionOf(this.#of),
      kind: this.#of.kind,
      metadata: { name, uid },
      status,
    } as KubeObject)
    this.#written.set(uid, { status, basedOn: resourceVersion, atMs: nowMs })
    this.#recordEvent(object, had, status)
  }

  retain(objects: readonly KubeObject[]): void {
    retain(this.#written, objects)
  }

  #withoutFrequent(status: S | undefined): unknown {
    return plain(status && { ...status, ...Object.fromEntries(this.#options.frequent.map((each) => [each])) })
  }

  #recordEvent(object: KubeObject, had: S | undefined, status: S): void {
    const ready = readyOf(status.conditions)
    if (ready === undefined || readyOf(had?.conditions)?.reason === ready.reason) return
    const { reason, message } = ready
    const type = ready.status === 'True' || this.#isRoutine(reason, had, status) ? 'Normal' : 'Warning'
    this.#deps.events.record(this.#of.kind, object, { type, reason, action: 'Reconcile', note: message })
  }

  #isRoutine(reason: string, had: S | undefined, { observedGeneration }: S): boolean {
    const { routine, starting } = this.#options
    const wasReady = readyOf(had?.conditions)?.status === 'True'
    const hasChanged = had?.observedGeneration !== observedGeneration
    return routine.includes(reason) || (starting.includes(reason) && (hasChanged || !wasReady))
  }
}

/** The value without fields that are `undefined`. */
const plain = (value: unknown): unknown => value && JSON.parse(JSON.stringify(value))

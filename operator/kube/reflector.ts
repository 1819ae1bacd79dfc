import { Backoff } from '../../services/platform/backoff.ts'
import type { Log } from '../../services/platform/log/log.ts'
import type { Clock } from '../../services/platform/system-clock.ts'
import { type KubeApi, KubeError, type WatchEvent } from './api.ts'
import type { KubeObject, Resource } from './object.ts'

const retryMinMs = 500
const retryMaxMs = 8_000
/** Minimum interval between watches, also when the server ends them immediately. */
const watchLeastMs = 1_000

export interface ReflectorDeps<T> {
  readonly api: Pick<KubeApi, 'list' | 'watch'>
  readonly clock: Clock
  readonly log: Log
  /** Called with each added, changed or deleted object (its last state), and with `undefined` after a new list. */
  readonly changed: (object: T | undefined) => void
  readonly failed: () => void
}

/**
 * Keeps all objects of one kind in memory: a list, then a watch from its version. After a watch ends, the next one
 * continues from the last version. When the server no longer has that version (410), all objects are listed again.
 * Pauses between failures grow until an event arrives.
 */
export class Reflector<T extends KubeObject> {
  readonly #of: Resource
  readonly #deps: ReflectorDeps<T>
  readonly #ending = new AbortController()
  #objects = new Map<string, T>()
  #version: string | undefined
  #isSynced = false
  /** Has jitter, so that operators do not all retry at the same moment. */
  readonly #retries: Backoff

  constructor(of: Resource, deps: ReflectorDeps<T>) {
    this.#of = of
    this.#deps = deps
    this.#retries = new Backoff(deps.clock, { firstMs: retryMinMs, maxMs: retryMaxMs, jitter: 'half' })
    void this.#run()
  }

  /** Whether all objects were listed and a watch is open; false while the API server is unavailable. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  get(name: string): T | undefined {
    return this.#objects.get(name)
  }

  all(): readonly T[] {
    return [...this.#objects.values()]
  }

  close(): void {
    this.#ending.abort()
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps
    while (!this.#ending.signal.aborted) {
      try {
        if (this.#version === undefined) await this.#list()
        await Promise.all([this.#watch(this.#version ?? ''), clock.sleep(watchLeastMs, this.#ending.signal)])
        this.#retries.reset()
      } catch (cause) {
        if (this.#ending.signal.aborted) return
        this.#isSynced = false
        this.#deps.failed()
        if (isExpired(cause)) this.#version = undefined
        const retryInMs = this.#retries.nextMs()
        log.warn({ err: cause, kind: this.#of.plural, retryInMs }, 'API server unavailable; retrying')
        await clock.sleep(retryInMs, this.#ending.signal)
      }
    }
  }

  async #list(): Promise<void> {
    const { items, version } = await this.#deps.api.list<T>(this.#of)
    this.#objects = new Map(items.map((item) => [item.metadata.name, item]))
    this.#version = version
    this.#isSynced = true
    this.#deps.changed(undefined)
  }

  #watch(version: string): Promise<void> {
    return this.#deps.api.watch<T>(this.#of, version, {
      opened: () => void (this.#isSynced = true),
      received: (event) => this.#received(event),
      signal: this.#ending.signal,
    })
  }

  #received({ type, object }: WatchEvent<T>): void {
    if (type === 'ERROR') {
      const { code, reason, message } = object as unknown as {
        code?: number
        reason?: string
        message?: string
      }
      throw new KubeError(code ?? 0, reason ?? '', message ?? 'the watch failed')
    }
    this.#retries.reset()
    this.#version = object.metadata.resourceVersion ?? this.#version
    if (type === 'BOOKMARK') return
    if (type === 'DELETED') this.#objects.delete(object.metadata.name)
    else this.#objects.set(object.metadata.name, object)
    this.#deps.changed(object)
  }
}

const isExpired = (cause: unknown): boolean =>
  cause instanceof KubeError && (cause.status === 410 || cause.reason === 'Expired')

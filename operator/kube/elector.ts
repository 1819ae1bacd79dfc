import type { Log } from '../../services/platform/log/log.ts'
import type { Clock } from '../../services/platform/system-clock.ts'
import { type KubeApi, KubeError, writeTimeoutMs } from './api.ts'
import { microTimeText } from './condition.ts'
import type { KubeObject } from './object.ts'
import { apiVersionOf, resources } from './resources.ts'

export const leaseName = 'fxd-operator'
const leaseSeconds = 15
const renewEveryMs = 4_000
/** Mean interval at which a standby reads the Lease. */
const lookEveryMs = 2_000
/** Maximum time that a leader acts after the start of its last renewal. The rest covers its last call and clock drift. */
const actMs = leaseSeconds * 1_000 - writeTimeoutMs - 2_000

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

interface ElectorDeps {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'replace'>
  /** Name of this replica's pod: the same after a restart of its container. */
  readonly identity: string
  readonly clock: Clock
  readonly log: Log
  readonly began: () => void
}

/**
 * Elects at most one leader. Another replica takes the Lease once its holder released it or did not renew it for its
 * whole duration. Each replica measures that duration with its own clock, so no clocks are compared.
 */
export class Elector {
  readonly #deps: ElectorDeps
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  /** The last observed change of the Lease and its time. */
  #seen: { readonly text: string; readonly atMs: number } | undefined
  #renewedMs: number | undefined
  #annotations: Readonly<Record<string, string>> = {}
  /** Annotation changes for the next renewal; `undefined` removes one. Only a few fixed names occur. */
  readonly #edits = new Map<string, string | undefined>()

  constructor(deps: ElectorDeps) {
    this.#deps = deps
    this.#running = this.#run()
  }

  get isLeader(): boolean {
    return this.#renewedMs !== undefined && this.#deps.clock.monotonicMs() - this.#renewedMs < actMs
  }

  /** Annotations of the Lease as last read, with pending changes. */
  get annotations(): Readonly<Record<string, string>> {
    return this.#annotations
  }

  /** Changes or removes an annotation of the Lease with the next renewal. `annotations` shows it immediately. */
  annotate(name: string, value: string | undefined): void {
    this.#edits.set(name, value)
    this.#annotations = this.#edited(this.#annotations)
  }

  /** Releases the Lease, so that another replica need not wait until it expires. */
  async close(): Promise<void> {
    this.#ending.abort()
    await this.#running
    if (!this.isLeader) return
    this.#renewedMs = undefined
    const lease = await this.#read()
    if (lease?.spec?.holderIdentity !== this.#deps.identity) return
    await this.#deps.api.replace(resources.leases, { ...lease, spec: { ...lease.spec, holderIdentity: '' } })
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps
    while (!this.#ending.signal.aborted) {
      const was = this.isLeader
      try {
        await this.#round()
      } catch (cause) {
        log.warn({ err: cause }, 'Lease of the operator unavailable; retrying')
      }
      if (was && !this.isLeader) log.warn('lost the Lease: this replica no longer leads')
      await clock.sleep(
        this.isLeader ? renewEveryMs : lookEveryMs * (0.75 + clock.random() / 2),
        this.#ending.signal,
      )
    }
  }

  async #round(): Promise<void> {
    const { api, identity, clock } = this.#deps
    const lease = await this.#read()
    const begunMs = clock.monotonicMs()
    const edits = [...this.#edits]
    try {
      if (lease === undefined) await api.create<Lease>(resources.leases, this.#renewed(undefined))
      else if (lease.spec?.holderIdentity === identity || this.#isFree(lease))
        await api.replace(resources.leases, this.#renewed(lease))
      else return this.#edits.clear()
    } catch (cause) {
      // Another replica took the Lease first.
      if (cause instanceof KubeError && cause.status === 409) return
      throw cause
    }
    for (const [name, value] of edits) if (this.#edits.get(name) === value) this.#edits.delete(name)
    const isNew = !this.isLeader
    this.#renewedMs = begunMs
    if (!isNew || this.#ending.signal.aborted) return
    this.#deps.log.info('acquired the Lease: this replica leads')
    this.#deps.began()
  }

  async #read(): Promise<Lease | undefined> {
    const lease = await this.#deps.api.get<Lease>(resources.leases, leaseName)
    this.#annotations = this.#edited(lease?.metadata.annotations ?? {})
    return lease
  }

  #edited(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const edited = Object.entries({ ...annotations, ...Object.fromEntries(this.#edits) })
    return Object.fromEntries(edited.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  }

  #isFree({ spec = {} }: Lease): boolean {
    const { holderIdentity = '', renewTime = '', leaseDurationSeconds = leaseSeconds } = spec
    if (holderIdentity === '') return true
    const text = `${holderIdentity} ${renewTime}`
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#seen?.text !== text) this.#seen = { text, atMs: nowMs }
    return nowMs - this.#seen.atMs >= leaseDurationSeconds * 1_000
  }

  #renewed(lease: Lease | undefined): Lease {
    const { identity, clock } = this.#deps
    const now = microTimeText(clock.utcMs())
    const { spec = {} } = lease ?? {}
    const isOurs = spec.holderIdentity === identity
    return {
      ...lease,
      apiVersion: apiVersionOf(resources.leases),
      kind: 'Lease',
      metadata: {
        ...(lease?.metadata ?? { name: leaseName }),
        annotations: this.#edited(lease?.metadata.annotations ?? {}),
      },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: leaseSeconds,
        renewTime: now,
        acquireTime: isOurs ? (spec.acquireTime ?? now) : now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (isOurs || lease === undefined ? 0 : 1),
      },
    }
  }
}

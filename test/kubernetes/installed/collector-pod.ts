import { metricOf } from '../../support/clients/metric-of.ts'
import type { UnderLoad } from './under-load.ts'

const opsPort = 9464

/** The collector pod of a Feed. */
export class CollectorPod {
  readonly name: string
  readonly #loaded: Pick<UnderLoad, 'kubectl' | 'ready'>
  readonly #feed: string

  constructor(loaded: Pick<UnderLoad, 'kubectl' | 'ready'>, feed: string) {
    this.name = `${feed}-collector-0`
    this.#loaded = loaded
    this.#feed = feed
  }

  /** The value of a metric, named without `fxd_collector_`. Rejects when the pod does not answer. */
  async value(metric: string): Promise<number> {
    const address = await this.#loaded.kubectl('get', 'pod', this.name, '-o=jsonpath={.status.podIP}')
    return metricOf(`${address}:${opsPort}`, `fxd_collector_${metric}`)
  }

  /** The name of its node; '' while it has none. */
  place(): Promise<string> {
    return this.#loaded.kubectl('get', 'pod', this.name, '--ignore-not-found', '-o=jsonpath={.spec.nodeName}')
  }

  async ready(): Promise<void> {
    await this.#loaded.kubectl('wait', '--for=condition=Ready', `pod/${this.name}`, '--timeout=120s')
  }

  /** Replaces the pod. Resolves once the new pod collects. */
  async restart(): Promise<void> {
    await this.#loaded.kubectl('delete', 'pod', this.name)
    await this.#loaded.kubectl('wait', '--for=create', `pod/${this.name}`, '--timeout=60s')
    await this.ready()
    await this.#loaded.ready('feed', this.#feed)
  }
}

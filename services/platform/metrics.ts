import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type { Counter, Gauge, Histogram } from 'prom-client'

/** Histogram buckets in seconds, with bounds at the promises: 0.1 s for a push, 0.2 s for REST. */
export const secondsBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]

/**
 * Metrics of a role. Names begin with `fxd_` and end with base units (`_seconds`, `_bytes`, `_total` for
 * counters). The number of label values must not grow with keys or symbols.
 */
export interface Metrics {
  /** With `read` the counter begins at 0 at each scrape, and `read` adds what was counted elsewhere. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    read?: (counter: Counter<L>) => void,
  ): Counter<L>
  /** With `read` the value is read at each scrape. */
  gauge<L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    read?: (gauge: Gauge<L>) => void,
  ): Gauge<L>
  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly L[],
  ): Histogram<L>
  /** The sum of a counter over all its series with these labels; 0 when there is no such counter. */
  total(name: string, labels: Readonly<Record<string, string>>): Promise<number>
  /** The exposition text and its content type. Concurrent calls share one result. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** Creates a series at 0 for each value: Prometheus sees no increase, and no alert, in a series that begins at 1. */
export function fromZero<L extends string>(
  counter: Counter<L>,
  label: L,
  values: readonly string[],
): Counter<L> {
  for (const value of values) counter.inc({ [label]: value } as Partial<Record<L, string>>, 0)
  return counter
}

const checked = (name: string): string => {
  if (!/^fxd_[a-z][a-z0-9_]*$/.test(name)) throw new Error(`metric ${name} must begin with fxd_`)
  return name
}

/** Gauges of the library with names of counters; each is the sum of other metrics. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `fxd_nodejs_active_${what}_total`)

/** A separate registry, so that several services can run in one process. */
export function createMetrics(options: { readonly ofProcess: boolean }): Metrics {
  const register = new Registry()
  if (options.ofProcess) {
    collectDefaultMetrics({ register, prefix: 'fxd_' })
    for (const name of misnamed) register.removeSingleMetric(name)
  }
  let rendering: Promise<string> | undefined
  return {
    counter: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      read?: (counter: Counter<L>) => void,
    ) => {
      const collect = (): void => {
        counter.reset()
        read?.(counter)
      }
      const counter: Counter<L> = new Counter<L>({
        name: checked(name),
        help,
        labelNames: [...labels],
        registers: [register],
        ...(read && { collect }),
      })
      return counter
    },
    gauge: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      read?: (gauge: Gauge<L>) => void,
    ) => {
      const gauge: Gauge<L> = new Gauge<L>({
        name: checked(name),
        help,
        labelNames: [...labels],
        registers: [register],
        ...(read && { collect: () => read(gauge) }),
      })
      return gauge
    },
    histogram: (name, help, buckets, labels = []) =>
      new Histogram({
        name: checked(name),
        help,
        buckets: [...buckets],
        labelNames: [...labels],
        registers: [register],
      }),
    async total(name, labels) {
      const { values } = (await register.getSingleMetric(name)?.get()) ?? { values: [] }
      const wanted = Object.entries(labels)
      return values
        .filter((each) => wanted.every(([label, value]) => each.labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0)
    },
    async render() {
      rendering ??= register.metrics().finally(() => (rendering = undefined))
      return { contentType: register.contentType, text: await rendering }
    },
  }
}

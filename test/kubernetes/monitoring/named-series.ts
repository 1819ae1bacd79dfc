import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Named {
  /** Path, such as `charts/fxd/files/alerts.yaml`. */
  readonly file: string
  /** A selector that must match series, such as `fxd_stream_faults_total{place!=""}`. */
  readonly selector: string
}

/** Series that need not exist: recorded by rules, which start with the first failure, or of kube-state-metrics. */
const isOfOthers = /^(fxd:|kube_)/

/** The metrics in rules, dashboard and runbooks, each with the labels by which it is selected or grouped. */
export function namedSeries(): readonly Named[] {
  const runbooks = readdirSync(join(root, 'docs/runbooks')).map((name) => `docs/runbooks/${name}`)
  return [
    ...selectorsIn('charts/fxd/files/alerts.yaml'),
    ...selectorsIn('charts/fxd/files/dashboard.json'),
    ...runbooks.flatMap((file) => namesIn(file)),
  ]
}

function selectorsIn(file: string): readonly Named[] {
  const text = read(file).replaceAll('\\"', '"')
  const found = new Map<string, Set<string>>()
  const add = (metric: string, matchers: readonly string[]): void => {
    if (isOfOthers.test(metric)) return
    const known = found.get(metric) ?? new Set(['namespace!=""'])
    for (const matcher of matchers) known.add(matcher)
    found.set(metric, known)
  }
  for (const [, metric = '', inner = ''] of text.matchAll(/\b(fxd_[a-z0-9_]+|up)\{([^}]*)\}/g))
    add(metric, [...inner.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(matcherOf))
  for (const [, labels = '', metric = ''] of text.matchAll(
    /by \(([^)]*)\) \((?:\w+\()*(fxd_[a-z0-9_]+|up)\b/g,
  ))
    add(
      metric,
      labels.split(',').map((label) => `${label.trim()}!=""`),
    )
  return [...found].flatMap(([metric, matchers]) =>
    [...matchers].map((matcher) => ({ file, selector: `${metric}{${matcher}}` })),
  )
}

/** A matcher for a label: `le` must match in the same way, other labels must only exist. */
const matcherOf = ([, label = '', operator = '', value = '']: RegExpExecArray): string =>
  label === 'le' ? `le${operator}"${value}"` : `${label}!=""`

function namesIn(file: string): readonly Named[] {
  const names = [...read(file).matchAll(/`(fxd_[a-z0-9_]+)`/g)].flatMap(([, name]) => name ?? [])
  const isTable = /^fxd_(writer|reader)$/
  return [...new Set(names)]
    .filter((name) => !isTable.test(name))
    .map((name) => ({ file, selector: `{__name__=~"${name}(_count)?"}` }))
}

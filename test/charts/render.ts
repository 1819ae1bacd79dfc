import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { kubernetesPrograms } from '../kubernetes/cluster/programs.ts'

export const charts = join(import.meta.dirname, '../../charts')
export const chart = join(charts, 'fxd')

/** Files of values in the chart. */
export const examples: readonly string[] = [
  join(chart, 'values-production.yaml'),
  ...readdirSync(join(chart, 'examples')).map((name) => join(chart, 'examples', name)),
]

export type Texts = Readonly<Record<string, string>>

/** A rendered object of the chart. */
export interface Rendered {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

export interface Values {
  readonly file?: string
  /** Override those of the file. */
  readonly values?: unknown
  readonly namespace?: string
  /** Additional kinds of the cluster, such as `monitoring.coreos.com/v1/PodMonitor`. */
  readonly has?: readonly string[]
}

/** Its output contains the objects, or the reason of the failure. */
interface HelmRun {
  readonly status: number
  readonly said: string
  readonly text: string
}

export const helm = (...args: readonly string[]): HelmRun => helmOf(kubernetesPrograms().helm, ...args)

/** Runs this program of Helm. */
export function helmOf(program: string, ...args: readonly string[]): HelmRun {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error) throw error
  return { status: status ?? -1, said: `${stdout}${stderr}`, text: stdout }
}

/** `helm template` of the chart as the release `fxd`. */
export function template({ file, values, namespace = 'bars', has = [] }: Values): HelmRun {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-values-'))
  try {
    const over = join(folder, 'values.json')
    writeFileSync(over, JSON.stringify(values ?? {}))
    const kinds = has.flatMap((kind) => ['--api-versions', kind])
    const files = [...(file === undefined ? [] : ['-f', file]), '-f', over]
    return helm('template', 'fxd', chart, '--namespace', namespace, ...files, ...kinds)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The rendered objects. Throws with Helm's output when it fails. */
export function render(values: Values = {}): readonly Rendered[] {
  const { status, said, text } = template(values)
  if (status !== 0) throw new Error(said)
  return objectsOf(text)
}

export const objectsOf = (text: string): readonly Rendered[] =>
  parseAllDocuments(text)
    .map((document) => {
      const [fault] = document.errors
      if (fault) throw fault
      return document.toJS() as Rendered | null
    })
    .filter((object) => object !== null)

/** The only object of that kind and name. Throws when there is none or more than one. */
export function find(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.filter((each) => each.kind === kind && each.metadata.name === name)
  if (found.length === 1 && found[0]) return found[0]
  const names = objects.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name)
  throw new Error(`There are ${found.length} of ${kind} ${name}; of that kind there are ${names.join(', ')}.`)
}

/** The value of an object at a path such as `spec.template`. Throws when it is missing. */
export function part<T>(object: Rendered, path: string): T {
  const found = path
    .split('.')
    .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], object)
  if (found === undefined) throw new Error(`${object.kind} ${object.metadata.name} has no ${path}.`)
  return found as T
}

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { kubernetesPrograms } from '../kubernetes/cluster/programs.ts'
import { chart, examples, template } from './render.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly definitions?: Readonly<Record<string, Schema>>
}

const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema
const read = (file: string): Json => parse(readFileSync(file, 'utf8')) as Json
const defaults = read(join(chart, 'values.yaml'))

const resolved = (at: Schema): Schema =>
  at.$ref === undefined ? at : resolved(schema.definitions?.[at.$ref.replace('#/definitions/', '')] ?? {})

/** Whether a value has free names: maps of strings, quantities, and objects that the API server checks. */
const isOpen = (at: Schema): boolean => resolved(at).properties === undefined

/** Paths of the values, such as `rest.service.type`: lists and free maps are one value. */
function pathsOf(at: Schema, path: readonly string[] = []): string[] {
  const { properties } = resolved(at)
  if (properties === undefined) return [path.join('.')]
  return Object.entries(properties).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))
}

const valueAt = (values: Json, path: string): Json | undefined =>
  path
    .split('.')
    .reduce<Json | undefined>(
      (at, name) => (at as Readonly<Record<string, Json>> | undefined)?.[name],
      values,
    )

const isMap = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function put(values: Json, path: readonly string[], value: Json): Json {
  const [name, ...rest] = path
  if (name === undefined) return value
  const map = isMap(values) ? values : {}
  return { ...map, [name]: put(map[name] ?? {}, rest, value) }
}

/** Leaves out `global`, which Helm adds for all charts. */
const values = pathsOf(schema).filter((path) => path !== 'global')

test('every object of the schema rejects unknown names', () => {
  const seen: string[] = []
  const look = (at: Schema, path: string): void => {
    const { $ref, properties, additionalProperties, items, definitions } = at
    if ($ref !== undefined) return
    if (properties !== undefined) {
      expect(additionalProperties, path).toBe(false)
      seen.push(path)
    }
    for (const [name, inner] of Object.entries({ ...properties, ...definitions }))
      look(inner, `${path}.${name}`)
    if (items !== undefined) look(items, `${path}[]`)
    if (typeof additionalProperties === 'object') look(additionalProperties, `${path}.*`)
  }
  look(schema, '')
  expect(seen.length).toBeGreaterThan(40)
})

test('every value has a default, a type or choices, and every default is in the schema', () => {
  const missing = values.filter((path) => valueAt(defaults, path) === undefined)
  expect(missing).toEqual([])
  const leaves = (at: Json, place: Schema, path: string): string[] =>
    isMap(at) && !isOpen(place)
      ? Object.entries(at).flatMap(([name, inner]) => {
          const next = resolved(place).properties?.[name]
          return next === undefined ? [`${path}.${name}`] : leaves(inner, next, `${path}.${name}`)
        })
      : []
  expect(leaves(defaults, schema, '')).toEqual([])
})

test.for([
  ['a wrong word at the top', { rst: {} }, "additional properties 'rst' not allowed"],
  ['a wrong word in a part', { rest: { replica: 3 } }, "additional properties 'replica' not allowed"],
  [
    'a wrong word of a store',
    { questdb: { backup: { enable: true } } },
    "additional properties 'enable' not allowed",
  ],
  ['text for a number', { rest: { replicas: 'two' } }, 'got string, want integer'],
  ['no replica', { ingest: { replicas: 0 } }, 'minimum: got 0, want 1'],
  ['an unknown mode of TLS', { tls: { mode: 'On' } }, "value must be one of 'Off', 'CertManager', 'Secret'"],
  [
    'the mode Off without quotes',
    { tls: { mode: false } },
    'tls.mode: write "Off" in quotes, because YAML reads Off',
  ],
  [
    'a limit of Redis below its maxMemory and a quarter',
    { redis: { resources: { limits: { memory: '1279Mi' } } } },
    'redis.resources.limits.memory: got 1279Mi, wanted at least 1280Mi, because redis.maxMemory is 1gb',
  ],
  [
    'a limit of QuestDB below its heap and 512 MiB',
    { questdb: { heap: '4g' } },
    'questdb.resources.limits.memory: got 3Gi, wanted at least 4608Mi, because questdb.heap is 4g',
  ],
  [
    'a limit of QuestDB in bytes',
    { questdb: { resources: { limits: { memory: 1_610_612_735 } } } },
    'wanted at least 1536Mi',
  ],
  [
    'an old QuestDB',
    { questdb: { image: { tag: '9.2.10-rhel' } } },
    'questdb.image.tag: got 9.2.10, wanted 9.3.4 or newer',
  ],
  [
    'millibytes of memory',
    { rest: { resources: { limits: { memory: '512m' } } } },
    '/rest/resources/limits/memory',
  ],
  [
    'a quantity with B',
    { ingest: { resources: { requests: { memory: '1GB' } } } },
    '/ingest/resources/requests/memory',
  ],
  [
    'a CPU with a wrong unit',
    { stream: { resources: { requests: { cpu: '2cores' } } } },
    '/stream/resources/requests/cpu',
  ],
  ['no CPU', { rest: { resources: { requests: { cpu: 0 } } } }, '/rest/resources/requests/cpu'],
  [
    'a peer with a wrong word',
    { networkPolicy: { clients: [{ namespaceSelector: {}, podSelectr: {} }] } },
    "additional properties 'podSelectr' not allowed",
  ],
  ['a peer that names nothing', { networkPolicy: { metrics: [{}] } }, '/networkPolicy/metrics/0'],
  [
    'a peer with addresses and pods',
    { networkPolicy: { collectors: [{ podSelector: {}, ipBlock: { cidr: '192.0.2.0/24' } }] } },
    '/networkPolicy/collectors/0',
  ],
  [
    'a wrong word in the selector of a peer',
    { networkPolicy: { stores: [{ podSelector: { matchlabels: {} } }] } },
    "additional properties 'matchlabels' not allowed",
  ],
  [
    'a rule of egress with a wrong word, which would allow everything',
    { networkPolicy: { extraEgress: [{ too: [] }] } },
    "additional properties 'too' not allowed",
  ],
  ['a proxy that is no block of addresses', { trustedProxies: ['ingress'] }, 'does not match pattern'],
  ['too few workers of QuestDB', { questdb: { workers: 2 } }, 'minimum: got 2, want 4'],
  [
    'a schedule of backups without a field for weekdays',
    { questdb: { backup: { schedule: '17 13 * *' } } },
    'does not match pattern',
  ],
  [
    'no host of QuestDB',
    { questdb: { enabled: false } },
    'questdb.host is needed where questdb.enabled is false',
  ],
  [
    'no password of an outside QuestDB',
    { questdb: { enabled: false, host: 'q' } },
    'questdb.writer.existingSecret is needed',
  ],
  ['no host of Redis', { redis: { enabled: false } }, 'redis.host or redis.sentinel.hosts is needed'],
  [
    'no password of an outside Redis',
    { redis: { enabled: false, host: 'r' } },
    'redis.users.rest.existingSecret is needed',
  ],
  [
    'the user default in the chart’s Redis',
    { redis: { users: { rest: { user: 'default' } } } },
    'cannot be default',
  ],
  [
    'one user of Redis for two roles',
    { redis: { users: { rest: { user: 'app' }, stream: { user: 'app' } } } },
    'redis.users.stream.user: got app, the user of another role',
  ],
  [
    'a label that the chart sets itself',
    { commonLabels: { 'app.kubernetes.io/part-of': 'trading' } },
    "invalid propertyName 'app.kubernetes.io/part-of'",
  ],
  [
    'a QuestDB that exists beside the chart’s',
    { questdb: { host: 'q' } },
    'set questdb.enabled to false: questdb.host is the QuestDB that exists',
  ],
  ['a Redis that exists beside the chart’s', { redis: { host: 'r' } }, 'set redis.enabled to false'],
  ['Sentinels of the chart’s Redis', { redis: { sentinel: { hosts: ['s:26379'] } } }, 'set redis.enabled'],
  ['TLS of the chart’s Redis', { redis: { tls: { enabled: true } } }, 'set redis.enabled to false'],
  [
    'a minimum of rest above the maximum',
    { rest: { autoscaling: { enabled: true, minReplicas: 7 } } },
    'minReplicas must be at most rest.autoscaling.maxReplicas',
  ],
  [
    'a minimum of shards above the maximum',
    { stream: { autoscale: { enabled: true, minReplicas: 11 } } },
    'minReplicas must be at most stream.replicasMax',
  ],
  ['no Gateway', { httpRoute: { enabled: true } }, 'httpRoute.parentRefs is needed'],
  ['no issuer', { tls: { mode: 'CertManager' } }, 'tls.certManager.issuerRef.name is needed'],
  ['no certificate', { tls: { mode: 'Secret' } }, 'is needed with tls.mode Secret'],
] as const)('%s is rejected with the reason', ([, given, reason]) => {
  const { status, said } = template({ values: given })
  expect(said).toContain(reason)
  expect(status).not.toBe(0)
})

test.for([
  ['Redis at its need', { redis: { resources: { limits: { memory: '1280Mi' } } } }],
  ['Redis without a limit', { redis: { resources: { limits: null } } }],
  ['QuestDB at its need', { questdb: { resources: { limits: { memory: '1.5Gi' } } } }],
  ['a newer QuestDB', { questdb: { image: { tag: '9.10.0' } } }],
  ['a QuestDB without a version', { questdb: { image: { tag: 'nightly' } } }],
  ['a CPU as a number', { rest: { resources: { requests: { cpu: 0.5 } } } }],
  ['other resources', { rest: { resources: { limits: { 'nvidia.com/gpu': 1, 'hugepages-2Mi': '4Mi' } } } }],
  [
    'peers by labels and namespace',
    {
      networkPolicy: {
        clients: [
          {
            podSelector: { matchLabels: { a: 'b' } },
            namespaceSelector: { matchExpressions: [{ key: 'x', operator: 'Exists' }] },
          },
          { ipBlock: { cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] } },
        ],
      },
    },
  ],
  [
    'a rule of egress to any address',
    { networkPolicy: { extraEgress: [{ ports: [{ port: 4317, endPort: 4318 }] }] } },
  ],
])('%s is accepted', ([, given]) => {
  expect(template({ values: given })).toMatchObject({ status: 0 })
})

test.for(['@daily', '*/30 0-6 * * 1,3'])('the schedule %s of backups is accepted', (schedule) => {
  expect(template({ values: { questdb: { backup: { schedule } } } })).toMatchObject({ status: 0 })
})

/** Values that a file sets and that differ from the default. */
const settings = examples.flatMap((file) => {
  const given = read(file)
  return values
    .filter((path) => {
      const value = valueAt(given, path)
      return value !== undefined && JSON.stringify(value) !== JSON.stringify(valueAt(defaults, path))
    })
    .map((path) => ({ file, path }))
})

test('every value is set by at least one of the examples', () => {
  const set = new Set(settings.map(({ path }) => path))
  expect(values.filter((path) => !set.has(path))).toEqual([])
  expect(values.length).toBeGreaterThan(150)
})

test('every value changes the rendered objects', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-values-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const run = promisify(execFile)
  const rendered = async (file: string, name: string, given: Json): Promise<string> => {
    const path = join(folder, `${name}.json`)
    writeFileSync(path, JSON.stringify(given))
    // A failure without the value counts as a difference, too.
    const { stdout } = await run(kubernetesPrograms().helm, ['template', 'fxd', chart, '-f', path], {
      maxBuffer: 64 * 1024 * 1024,
    }).catch((cause: { stderr: string }) => ({ stdout: `${basename(file)}: ${cause.stderr}` }))
    return stdout
  }
  const whole = new Map<string, string>()
  for (const file of examples) whole.set(file, await rendered(file, basename(file), read(file)))
  const idle = new Map(settings.map(({ path }) => [path, true]))
  const waiting = settings.values()
  const work = async (): Promise<void> => {
    for (const { file, path } of waiting) {
      if (idle.get(path) === false) continue
      const without = put(read(file), path.split('.'), valueAt(defaults, path) ?? null)
      if ((await rendered(file, `${basename(file)}-${path}`, without)) !== whole.get(file))
        idle.set(path, false)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  expect([...idle].filter(([, isIdle]) => isIdle).map(([path]) => path)).toEqual([])
})

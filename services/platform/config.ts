import { suggest } from '../core/suggest.ts'
import { isAddressBlock } from './addresses.ts'
import { Fatal } from './exit.ts'
import { type LogLevel, logLevels } from './log.ts'

/** A listening address; port 0 takes any free port. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Parsed once at start, validated, frozen and handed down; nothing else reads the environment. */
export interface Config {
  readonly httpAddr: Address
  readonly grpcAddr: Address
  readonly opsAddr: Address
  readonly dataDir: string
  /** Where bars, windows and the registry are kept. */
  readonly store: StoreKind
  /** Writes and administration. */
  readonly questdbHttp: Address
  /** Reads. */
  readonly questdbPg: Address
  readonly questdbUser: string
  readonly questdbPassword: string
  /** Begins the name of every table, so that several services can share one QuestDB. */
  readonly questdbPrefix: string
  /** File or folder of Feed manifests; `undefined`: the demo feeds. */
  readonly feeds: string | undefined
  /** CIDR blocks whose forwarded chain is believed. */
  readonly trustedProxies: readonly string[]
  readonly logLevel: LogLevel
}

const storeKinds = ['embedded', 'questdb'] as const
export type StoreKind = (typeof storeKinds)[number]

export class ConfigError extends Fatal {
  constructor(message: string) {
    super('config', message)
  }
}

interface Variable<T> {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
  readonly parse: (text: string, name: string) => T
  /** Never printed. */
  readonly isSecret: boolean
}

const refuse = (name: string, got: string, wants: string): never => {
  throw new ConfigError(`${name} is ${JSON.stringify(got)}; it must be ${wants}.`)
}

function parseAddress(text: string, name: string): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535)
    return refuse(name, text, 'host:port with a port from 0 to 65535, such as 127.0.0.1:8080')
  return Object.freeze({ host: match[1] ?? match[2] ?? '', port })
}

const parsePath = (text: string, name: string): string => (text === '' ? refuse(name, text, 'a path') : text)

/** `true` and hop counts are refused on purpose: they believe anyone. */
function parseCidrs(text: string, name: string): readonly string[] {
  const blocks = text
    .split(',')
    .map((block) => block.trim())
    .filter((block) => block !== '')
  for (const block of blocks) {
    if (!isAddressBlock(block))
      refuse(name, text, 'a comma-separated list of addresses and CIDR blocks, such as 10.0.0.0/8')
  }
  return Object.freeze(blocks)
}

const oneOf =
  <T extends string>(known: readonly T[]) =>
  (text: string, name: string): T =>
    known.find((each) => each === text) ?? refuse(name, text, `one of ${known.join(', ')}`)

/** A server elsewhere is never on port 0. */
function parseServer(text: string, name: string): Address {
  const address = parseAddress(text, name)
  return address.port === 0 ? refuse(name, text, 'host:port of a server, such as 127.0.0.1:9000') : address
}

const parseUser = (text: string, name: string): string =>
  text === '' ? refuse(name, text, 'a user of QuestDB') : text

const parsePrefix = (text: string, name: string): string =>
  /^[a-z][a-z0-9_]{0,31}$/.test(text)
    ? text
    : refuse(name, text, 'at most 32 lower-case letters, digits and _ that begin with a letter')

const variable = <T>(
  name: string,
  fallback: string,
  meaning: string,
  parse: (text: string, name: string) => T,
  isSecret = false,
): Variable<T> => ({ name, fallback, meaning, parse, isSecret })

const variables = {
  httpAddr: variable('FXD_HTTP_ADDR', '127.0.0.1:8080', 'where REST and /v1/stream listen', parseAddress),
  grpcAddr: variable(
    'FXD_GRPC_ADDR',
    '127.0.0.1:8090',
    'where collectors and the command line connect (gRPC)',
    parseAddress,
  ),
  opsAddr: variable(
    'FXD_OPS_ADDR',
    '127.0.0.1:9464',
    'where /livez, /readyz and /metrics listen',
    parseAddress,
  ),
  dataDir: variable(
    'FXD_DATA_DIR',
    './data',
    'folder that keeps bars, registry, usage and the administration token',
    parsePath,
  ),
  store: variable(
    'FXD_STORE',
    'embedded',
    'where bars, coverage and the registry are kept: embedded (in FXD_DATA_DIR) or questdb',
    oneOf(storeKinds),
  ),
  questdbHttp: variable(
    'FXD_QUESTDB_HTTP',
    '127.0.0.1:9000',
    'host:port of QuestDB for HTTP: writes and administration',
    parseServer,
  ),
  questdbPg: variable(
    'FXD_QUESTDB_PG',
    '127.0.0.1:8812',
    "host:port of QuestDB for PostgreSQL's protocol: reads",
    parseServer,
  ),
  questdbUser: variable('FXD_QUESTDB_USER', 'admin', 'user of QuestDB', parseUser),
  questdbPassword: variable(
    'FXD_QUESTDB_PASSWORD',
    'quest',
    'password of that user; never printed',
    (text) => text,
    true,
  ),
  questdbPrefix: variable(
    'FXD_QUESTDB_PREFIX',
    'fxd_',
    'begins the name of every table, so that several services can share one QuestDB',
    parsePrefix,
  ),
  feeds: variable(
    'FXD_FEEDS',
    '',
    'file or folder of Feed manifests; empty: the demo feeds',
    (text) => text || undefined,
  ),
  trustedProxies: variable(
    'FXD_TRUSTED_PROXIES',
    '',
    'CIDR blocks of proxies whose X-Forwarded-For is believed',
    parseCidrs,
  ),
  logLevel: variable(
    'FXD_LOG_LEVEL',
    'info',
    `least level that is logged: ${logLevels.join(', ')}`,
    oneOf(logLevels),
  ),
} satisfies { [K in keyof Config]: Variable<Config[K]> }

/** Throws `ConfigError` naming the first variable that is unknown or invalid. */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const names = new Set<string>(Object.values(variables).map((each) => each.name))
  for (const name of Object.keys(environment)) {
    if (name.startsWith('FXD_') && !names.has(name)) {
      const near = suggest(name, names)
      const hint = near ? `did you mean ${near}?` : `there are ${[...names].join(', ')}.`
      throw new ConfigError(`${name} is no variable of fxd; ${hint}`)
    }
  }
  const entries = Object.entries(variables).map(([key, { name, fallback, parse }]) => [
    key,
    parse(environment[name] ?? fallback, name),
  ])
  return Object.freeze(Object.fromEntries(entries) as Config)
}

/** Handed down by `main.ts`; nothing else of the process's environment is looked at. */
export const processEnvironment: Readonly<Record<string, string | undefined>> = process.env

/** For `fxd config`: each variable with its default, what is set, and its meaning. */
export function describeConfig(environment: Readonly<Record<string, string | undefined>>) {
  return Object.values(variables).map(({ name, fallback, meaning, isSecret }) => ({
    name,
    fallback,
    set: isSecret && environment[name] !== undefined ? '(set)' : environment[name],
    meaning,
  }))
}

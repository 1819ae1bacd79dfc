import { type CompoundKey, parseCompoundKey } from '../../core/feeds/compound-key.ts'
import { isAddressBlock } from '../addresses.ts'
import { Fatal } from '../process/exit.ts'

/** A host and a port; port 0 of a listening address means any free port. */
export interface Address {
  readonly host: string
  readonly port: number
}

export const storeKinds = ['embedded', 'questdb'] as const
export const switches = ['disabled', 'enabled'] as const

export class ConfigError extends Fatal {
  constructor(message: string) {
    super('config', message)
  }
}

const refuse = (name: string, got: string, wants: string): never => {
  throw new ConfigError(`${name} is ${JSON.stringify(got)}; it must be ${wants}.`)
}

function tryAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  return Object.freeze({ host: match[1] ?? match[2] ?? '', port })
}

/** Parses the text of a variable; throws a `ConfigError` that names what is wanted. */
export interface Parser<T> {
  (text: string, name: string): T
  /** Form, unit and limits of a valid value. */
  readonly wants: string
}

/** `read` returns `undefined` for a text that does not match `wants`. */
const reader = <T>(wants: string, read: (text: string) => T | undefined): Parser<T> =>
  Object.assign((text: string, name: string): T => read(text) ?? refuse(name, text, wants), { wants })

const matching = (wants: string, pattern: RegExp): Parser<string> =>
  reader(wants, (text) => (pattern.test(text) ? text : undefined))

/** An empty text means that the variable is not set. */
export const optional = <T>(read: Parser<T>): Parser<T | undefined> =>
  Object.assign((text: string, name: string) => (text === '' ? undefined : read(text, name)), {
    wants: read.wants,
  })

export const anyText = (wants: string): Parser<string> => reader(wants, (text) => text)

export const parseAddress = reader(
  'host:port with a port from 0 to 65535, such as 127.0.0.1:8080',
  tryAddress,
)

export const parsePath = matching('a path', /./s)

const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')

/** Rejects `true` and hop counts on purpose: they would trust every sender. */
export const parseCidrs = reader(
  'a comma-separated list of addresses and CIDR blocks, such as 10.0.0.0/8',
  (text): readonly string[] | undefined => {
    const blocks = list(text)
    return blocks.every(isAddressBlock) ? Object.freeze(blocks) : undefined
  },
)

export const oneOf = <T extends string>(known: readonly T[]): Parser<T> =>
  reader(`one of ${known.join(', ')}`, (text) => known.find((each) => each === text))

const isServer = (address: Address | undefined): address is Address =>
  address !== undefined && address.port > 0

/** The address of another process; port 0 is invalid. */
export const parseServer = reader('host:port of a server, such as 127.0.0.1:9000', (text) => {
  const address = tryAddress(text)
  return isServer(address) ? address : undefined
})

const tryServers = (text: string): readonly Address[] | undefined => {
  const addresses = list(text).map(tryAddress)
  return addresses.every(isServer) ? Object.freeze(addresses) : undefined
}

export const parseServers = reader(
  'a comma-separated list of host:port of servers, such as 10.0.0.1:8090',
  tryServers,
)

export const parseIngests = reader(
  'a comma-separated list of at least one host:port, such as 10.0.0.1:8090',
  (text) => {
    const addresses = tryServers(text)
    return addresses?.length ? addresses : undefined
  },
)

const redisForm = 'like redis://127.0.0.1:6379/0 (0: the database), any password percent-encoded'
const redisDatabase = /^\/?\d{0,4}$/

function isRedisUrl(text: string): boolean {
  try {
    const { protocol, hostname, username, password, pathname, search, hash } = new URL(text)
    for (const encoded of [username, password]) decodeURIComponent(encoded)
    const hasOnlyDatabase = redisDatabase.test(pathname) && search === '' && hash === ''
    return /^rediss?:$/.test(protocol) && hostname !== '' && hasOnlyDatabase
  } catch {
    return false
  }
}

/** The error does not repeat the value: it may contain a password. */
export const parseRedis: Parser<string> = Object.assign(
  (text: string, name: string): string => {
    if (isRedisUrl(text)) return text
    throw new ConfigError(`${name} is not a URL of Redis; it must be ${redisForm}.`)
  },
  { wants: `a URL ${redisForm}` },
)

export const parseRedisPrefix = matching('1 to 64 letters, digits and any of _ : . -', /^[\w:.-]{1,64}$/)

export const parseName = matching('1 to 64 letters, digits and any of _ . -', /^[\w.-]{1,64}$/)

/** `of`: the unit, or the name of what is counted. */
export const wholeNumber = (of: string, min: number, max: number): Parser<number> =>
  reader(`a whole number of ${of} from ${min} to ${max}`, (text) =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
  )

export const parseUser = matching('a user of QuestDB', /./s)

export const parsePrefix = matching(
  'at most 32 lower-case letters, digits and _ that begin with a letter',
  /^[a-z][a-z0-9_]{0,31}$/,
)

const symbolsMax = 20

export const parseSymbols = reader(
  `at most ${symbolsMax} comma-separated compound keys, such as BROKERA:ZERO:EURUSD`,
  (text): readonly CompoundKey[] | undefined => {
    const symbols = [...new Set(list(text))]
    const isGood = symbols.length <= symbolsMax && symbols.every((each) => parseCompoundKey(each))
    return isGood ? Object.freeze(symbols as CompoundKey[]) : undefined
  },
)

/** Removes slashes at the end. The error does not repeat the value: it may contain a password. */
export const parseUrl = (...schemes: readonly string[]): Parser<string> => {
  const form = `like ${schemes.at(-1)}//bars.example.org, without user and query`
  const read = (text: string, name: string): string => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    const beside = url && [url.username, url.password, url.search, url.hash]
    if (url && schemes.includes(url.protocol) && beside?.every((part) => part === ''))
      return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, '')
    throw new ConfigError(`${name} is not a URL of a service; it must be ${form}.`)
  }
  return Object.assign(read, { wants: `a URL ${form}` })
}

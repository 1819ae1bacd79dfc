import { type CompoundKey, parseCompoundKey } from '../core/compound-key.ts'
import { isAddressBlock } from './addresses.ts'
import { Fatal } from './exit.ts'

/** A listening address; port 0 takes any free port. */
export interface Address {
  readonly host: string
  readonly port: number
}

export const storeKinds = ['embedded', 'questdb'] as const
export type StoreKind = (typeof storeKinds)[number]

export class ConfigError extends Fatal {
  constructor(message: string) {
    super('config', message)
  }
}

export const refuse = (name: string, got: string, wants: string): never => {
  throw new ConfigError(`${name} is ${JSON.stringify(got)}; it must be ${wants}.`)
}

function tryAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65_535) return undefined
  return Object.freeze({ host: match[1] ?? match[2] ?? '', port })
}

export const parseAddress = (text: string, name: string): Address =>
  tryAddress(text) ?? refuse(name, text, 'host:port with a port from 0 to 65535, such as 127.0.0.1:8080')

export const parsePath = (text: string, name: string): string =>
  text === '' ? refuse(name, text, 'a path') : text

/** `true` and hop counts are refused on purpose: they trust every sender. */
export function parseCidrs(text: string, name: string): readonly string[] {
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

export const oneOf =
  <T extends string>(known: readonly T[]) =>
  (text: string, name: string): T =>
    known.find((each) => each === text) ?? refuse(name, text, `one of ${known.join(', ')}`)

/** A server elsewhere is never on port 0. */
export function parseServer(text: string, name: string): Address {
  const address = parseAddress(text, name)
  return address.port === 0 ? refuse(name, text, 'host:port of a server, such as 127.0.0.1:9000') : address
}

export function parseServers(text: string, name: string): readonly Address[] {
  const addresses = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => tryAddress(each))
  if (!addresses.every((each) => each !== undefined && each.port > 0))
    return refuse(name, text, 'a comma-separated list of host:port of servers, such as 10.0.0.1:8090')
  return Object.freeze(addresses as Address[])
}

const isRedisUrl = (text: string): boolean =>
  URL.canParse(text) && /^rediss?:$/.test(new URL(text).protocol) && new URL(text).hostname !== ''

/** What was given is not repeated: it may hold a password. */
export function parseRedis(text: string, name: string): string | undefined {
  if (text === '' || isRedisUrl(text)) return text || undefined
  throw new ConfigError(`${name} is no URL of a Redis; it must be like redis://127.0.0.1:6379.`)
}

export const parseRedisPrefix = (text: string, name: string): string =>
  /^[\w:.-]{1,64}$/.test(text) ? text : refuse(name, text, '1 to 64 letters, digits and any of _ : . -')

export const parseName = (text: string, name: string): string =>
  /^[\w.-]{1,64}$/.test(text) ? text : refuse(name, text, '1 to 64 letters, digits and any of _ . -')

export const wholeNumber =
  (min: number, max: number) =>
  (text: string, name: string): number =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? Number(text)
      : refuse(name, text, `a whole number from ${min} to ${max}`)

export const parseUser = (text: string, name: string): string =>
  text === '' ? refuse(name, text, 'a user of QuestDB') : text

export const parsePrefix = (text: string, name: string): string =>
  /^[a-z][a-z0-9_]{0,31}$/.test(text)
    ? text
    : refuse(name, text, 'at most 32 lower-case letters, digits and _ that begin with a letter')

const symbolsMax = 20

export function parseSymbols(text: string, name: string): readonly CompoundKey[] {
  const symbols = [...new Set(text.split(',').map((each) => each.trim()))].filter((each) => each !== '')
  if (symbols.length > symbolsMax || symbols.some((each) => parseCompoundKey(each) === undefined))
    refuse(name, text, `at most ${symbolsMax} comma-separated compound keys, such as BROKERA:ZERO:EURUSD`)
  return Object.freeze(symbols as CompoundKey[])
}

/** Without query, user or a slash at its end. What was given is not repeated: it may hold a password. */
export const parseUrl =
  (schemes: readonly string[]) =>
  (text: string, name: string): string | undefined => {
    if (text === '') return undefined
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url && schemes.includes(url.protocol) && url.username === '' && url.search === '' && url.hash === '')
      return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, '')
    throw new ConfigError(
      `${name} is no URL of a service; it must be like ${schemes.at(-1)}//bars.example.org, without user and query.`,
    )
  }

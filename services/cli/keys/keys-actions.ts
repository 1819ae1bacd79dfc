import { Failure } from '../../core/failure.ts'
import { parseDuration } from '../../core/keys/key-input.ts'
import { Fatal } from '../../platform/process/exit.ts'
import type { Key__Output } from '../../wire/gen/fxd/v1/Key.ts'
import { readPages } from '../../wire/read-pages.ts'
import type { JsonOption } from '../options.ts'
import type { RegistryCaller } from '../registry-client.ts'
import { json } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { withRegistry } from '../with-registry.ts'
import { keyFields, keyJson, keysTable, useJson, usesTable } from './key-text.ts'

/** Options of create and update. An absent field keeps the value of the plan, or of the key. */
export interface KeyOptions extends JsonOption {
  readonly plan?: string
  readonly feeds?: readonly string[]
  readonly rpm?: number
  readonly rpd?: number
  readonly wsConnections?: number
  readonly wsSymbols?: number
  readonly allowIp?: readonly string[]
  readonly expires?: string
  readonly name?: string
}

function print(terminal: Terminal, options: JsonOption, key: Key__Output, secret?: string): void {
  terminal.out(options.json ? json(keyJson(key, secret)) : keyFields(key, secret))
}

function printIssued(
  terminal: Terminal,
  options: JsonOption,
  issued: { readonly key: Key__Output | null; readonly secret: string },
): void {
  if (!issued.key)
    throw new Fatal(
      'internal',
      'The answer contains no key record. Find the key with "fxd keys list" and revoke it.',
    )
  print(terminal, options, issued.key, issued.secret)
  terminal.err('Store the key now: it is shown only once and cannot be recovered.\n')
  if (issued.key.state === 'expired') terminal.err('Warning: this key has already expired.\n')
}

const limitsOf = ({ rpm, rpd, wsConnections, wsSymbols }: KeyOptions) => ({
  ...(rpm !== undefined && { rpm }),
  ...(rpd !== undefined && { rpd }),
  ...(wsConnections !== undefined && { wsConnections }),
  ...(wsSymbols !== undefined && { wsSymbols }),
})

/** An empty text is refused: it may be an unset variable of a shell, and would open the key to every address. */
function addressesOf(list: readonly string[]): string[] {
  if (list.length === 0)
    throw new Fatal('usage', '--allow-ip: got none, wanted addresses or CIDR blocks, or "any"')
  return list.length === 1 && list[0] === 'any' ? [] : [...list]
}

/** The expiry of a new key; the service takes an empty text for "never", a person writes the word. */
function newExpiry(text: string): string {
  if (text === '') throw new Fatal('usage', '--expires: got "", wanted a date, an instant or "never"')
  return text === 'never' ? '' : text
}

export const createKey = (options: KeyOptions, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const issued = await registry.call('CreateKey', {
      name: options.name ?? '',
      plan: options.plan ?? '',
      feeds: [...(options.feeds ?? [])],
      limits: limitsOf(options),
      allowIps: addressesOf(options.allowIp ?? ['any']),
      expires: newExpiry(options.expires ?? 'never'),
    })
    printIssued(terminal, options, issued)
  })

export const listKeys = (options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const pages = await readPages((after) => registry.call('ListKeys', { after }))
    const keys = pages.flatMap((page) => page.keys)
    if (options.json) terminal.out(json(keys.map((key) => keyJson(key))))
    else if (keys.length > 0) terminal.out(keysTable(keys))
    else terminal.err('There is no key yet; "fxd keys create" issues one.\n')
  })

export const topKeys = (
  options: JsonOption & { readonly limit: number },
  terminal: Terminal,
): Promise<void> =>
  withRegistry(terminal, async (registry) => {
    const { keys } = await registry.call('ListTopKeys', { limit: options.limit })
    if (options.json) terminal.out(json(keys.map(useJson)))
    else if (keys.length > 0) terminal.out(usesTable(keys))
    else terminal.err('No key was used on this UTC day.\n')
  })

export const showKey = (id: string, options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) => print(terminal, options, await registry.call('GetKey', { id })))

export async function updateKey(id: string, options: KeyOptions, terminal: Terminal): Promise<void> {
  const limits = limitsOf(options)
  const change = {
    ...(options.name !== undefined && { name: options.name }),
    ...(options.plan !== undefined && { plan: options.plan }),
    ...(options.feeds !== undefined && { feeds: { values: [...options.feeds] } }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(options.allowIp !== undefined && { allowIps: { values: addressesOf(options.allowIp) } }),
    ...(options.expires !== undefined && { expires: options.expires }),
  }
  if (Object.keys(change).length === 0)
    throw new Fatal('usage', 'No option names a change; "fxd keys update --help" lists the options.')
  await withRegistry(terminal, async (registry) => {
    const update = (basedOn: number) => registry.call('UpdateKey', { id, basedOn, ...change })
    print(terminal, options, await changeOnLatest(registry, id, update))
  })
}

export async function rotateKey(
  id: string,
  options: JsonOption & { readonly overlap: string },
  terminal: Terminal,
): Promise<void> {
  const overlapMs = durationOption(options.overlap)
  await withRegistry(terminal, async (registry) => {
    const rotate = (basedOn: number) => registry.call('RotateKey', { id, basedOn, overlapMs })
    printIssued(terminal, options, await changeOnLatest(registry, id, rotate))
  })
}

export const revokeKey = (id: string, options: JsonOption, terminal: Terminal): Promise<void> =>
  withRegistry(terminal, async (registry) =>
    print(terminal, options, await registry.call('RevokeKey', { id })),
  )

/** Applies a change to the latest version of a key; retries once when another change came first. */
async function changeOnLatest<T>(
  registry: RegistryCaller,
  id: string,
  change: (basedOn: number) => Promise<T>,
): Promise<T> {
  const latest = async (): Promise<T> => change((await registry.call('GetKey', { id })).version)
  try {
    return await latest()
  } catch (cause) {
    if (cause instanceof Fatal && cause.exit === 'busy') return latest()
    throw cause
  }
}

function durationOption(text: string): number {
  try {
    return parseDuration(text)
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    throw new Fatal('usage', cause.message.replace('duration:', '--overlap:'), cause)
  }
}

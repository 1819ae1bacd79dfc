import { suggest } from '../core/suggest.ts'
import { isInjected } from './config/injected-variables.ts'
import { type RoleName, roleVariables } from './config/role-variables.ts'
import type { Config } from './config/settings.ts'
import { ConfigError } from './config/values.ts'
import { variables } from './config/variables.ts'

export type { Config } from './config/settings.ts'
export { type Address, ConfigError } from './config/values.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Throws `ConfigError` for an unknown or invalid variable. Variables of other roles are not parsed; reading one throws. */
export function parseConfig(environment: Environment, role?: RoleName): Config {
  refuseUnknown(environment)
  const own: readonly string[] = role === undefined ? Object.keys(variables) : roleVariables[role]
  const config = {}
  for (const [key, { name, fallback, parse }] of Object.entries(variables)) {
    if (own.includes(key))
      Object.defineProperty(config, key, {
        value: parse(environment[name] ?? fallback, name),
        enumerable: true,
      })
    else Object.defineProperty(config, key, { get: () => refuseForeign(name, role) })
  }
  return Object.freeze(config) as Config
}

function refuseUnknown(environment: Environment): void {
  const names = new Set<string>(Object.values(variables).map((each) => each.name))
  for (const [name, value = ''] of Object.entries(environment)) {
    if (name.startsWith('FXD_') && !names.has(name) && !isInjected(name, value)) {
      const near = suggest(name, names)
      const hint = near ? `did you mean ${near}?` : `the variables are ${[...names].join(', ')}.`
      throw new ConfigError(`${name} is not a variable of fxd; ${hint}`)
    }
  }
}

function refuseForeign(name: string, role: string | undefined): never {
  throw new Error(`fxd ${role} must not read ${name}`)
}

/** Passed on by `main.ts`; nothing else reads the environment of the process. */
export const processEnvironment: Environment = process.env

/** For `fxd config`: each variable with the roles that read it, its default, its value and its meaning. */
export function describeConfig(environment: Environment) {
  return Object.entries(variables).map(([key, { name, fallback, meaning, parse, isSecret }]) => ({
    name,
    roles: readersOf(key),
    fallback,
    set: isSecret && environment[name] !== undefined ? '(set)' : environment[name],
    wants: parse.wants,
    meaning,
  }))
}

const readersOf = (key: string): string[] =>
  Object.entries<readonly string[]>(roleVariables)
    .filter(([, keys]) => keys.includes(key))
    .map(([role]) => role)

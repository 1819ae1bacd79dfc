import { show } from '../show.ts'
import { didYouMean, suggest } from '../suggest.ts'

export type Path = readonly (string | number)[]

/** A fault of a manifest and its place: `['spec', 'symbols', 'list', 3, 'digits']`. */
export interface ManifestFault {
  readonly path: Path
  /** Names the value and what is wanted. */
  readonly message: string
}

const faultsMax = 100

/** A place in a document of any shape. Reading never throws: a wrong value adds a fault and returns `undefined`. */
export class Place {
  readonly path: Path
  readonly value: unknown
  readonly #faults: ManifestFault[]
  readonly #isRequired: boolean

  constructor(value: unknown, path: Path, faults: ManifestFault[], isRequired = true) {
    this.value = value
    this.path = path
    this.#faults = faults
    this.#isRequired = isRequired
  }

  fault(message: string): undefined {
    if (this.#faults.length < faultsMax) this.#faults.push({ path: this.path, message })
  }

  /** The result of `accept` for the value; where it returns `undefined`, a fault is added. */
  read<T>(wanted: string, accept: (value: unknown) => T | undefined): T | undefined {
    const isAbsent = this.value === undefined || this.value === null
    if (isAbsent && !this.#isRequired) return undefined
    const accepted = isAbsent ? undefined : accept(this.value)
    return accepted === undefined ? this.fault(`got ${show(this.value)}, wanted ${wanted}`) : accepted
  }

  text(wanted: string, isFine: (text: string) => boolean): string | undefined {
    return this.read(wanted, (value) => (typeof value === 'string' && isFine(value) ? value : undefined))
  }

  words(lengthMax: number): string | undefined {
    return this.text(
      `a text of 1 to ${lengthMax} characters`,
      (text) => text !== '' && text.length <= lengthMax,
    )
  }

  integer(min: number, max: number): number | undefined {
    return this.read(`a whole number from ${min} to ${max}`, (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : undefined,
    )
  }

  flag(): boolean | undefined {
    return this.read('true or false', (value) => (typeof value === 'boolean' ? value : undefined))
  }

  oneOf<T extends string>(known: readonly T[], nicknames?: ReadonlyMap<string, T>): T | undefined {
    const near = typeof this.value === 'string' ? didYouMean(this.value, known, nicknames) : ''
    const isUnquoted = typeof this.value === 'number' && known.some((each) => each === String(this.value))
    const hint = isUnquoted ? ` (in quotes: "${String(this.value)}")` : near
    const choice = known.map((each) => `"${each}"`).join(', ')
    return this.read(`${known.length > 1 ? 'one of ' : ''}${choice}${hint}`, (value) =>
      known.find((each) => each === value),
    )
  }

  /** The items of a list of at most `lengthMax`; of an absent list none. */
  items(lengthMax: number): Place[] {
    const list = this.read(`a list of at most ${lengthMax}`, (value) =>
      Array.isArray(value) && value.length <= lengthMax ? (value as unknown[]) : undefined,
    )
    return Array.from(list ?? [], (item, i) => new Place(item, [...this.path, i], this.#faults))
  }

  /** The value of a field that decides which other fields the mapping may have. */
  kind<T extends string>(name: string, known: readonly T[]): T | undefined {
    const fields = this.read(`a mapping with ${name}`, asMapping)
    if (fields === undefined) return undefined
    const mistyped = fields[name] === undefined && Object.keys(fields).find((each) => suggest(each, [name]))
    if (!mistyped) return new Place(fields[name], [...this.path, name], this.#faults).oneOf(known)
    return this.#unknownField(mistyped, [name])
  }

  #unknownField(name: string, known: readonly string[]): undefined {
    return new Place(undefined, [...this.path, name], this.#faults).fault(
      `got an unknown field ${show(name)}${didYouMean(name, known)}, wanted only ${known.join(', ')}`,
    )
  }

  /** A mapping with no other fields than these; an absent one is empty. */
  mapping<Name extends string>(known: readonly Name[]): Mapping<Name> {
    const fields = this.read(`a mapping with ${known.join(', ')}`, asMapping) ?? {}
    const place = (name: string, isRequired: boolean): Place =>
      new Place(fields[name], [...this.path, name], this.#faults, isRequired)
    for (const name of Object.keys(fields)) {
      if ((known as readonly string[]).includes(name)) continue
      this.#unknownField(name, known)
    }
    // A value that is not a mapping has its own fault; its fields add none.
    const isMapping = asMapping(this.value) !== undefined
    return {
      need: (name) => place(name, isMapping),
      may: (name) => place(name, false),
      names: known.filter((name) => Object.hasOwn(fields, name)),
    }
  }
}

export interface Mapping<Name extends string> {
  need(name: Name): Place
  may(name: Name): Place
  /** The known fields that are present. */
  readonly names: readonly Name[]
}

function asMapping(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.prototype.toString.call(value) === '[object Object]'
    ? (value as Record<string, unknown>)
    : undefined
}

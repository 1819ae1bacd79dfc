import { type Command, InvalidArgumentError } from 'commander'

/** Parses a list: `a,b` and a repeated option are equal. */
export const listOption = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
]

const countMax = 4_294_967_295

/** Parses a whole number of at most 32 bits, the range of the message field. The service checks the real limits. */
export function countOption(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= countMax) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

export interface JsonOption {
  readonly json?: boolean
}

export const withJson = (command: Command): Command => command.option('--json', 'print JSON')

import { type Command, InvalidArgumentError } from 'commander'

/** `a,b` and a repeated option are the same list. */
export const listOption = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
]

const countMax = 4_294_967_295

/** The bounds that make sense are the service's to judge; beyond this a number would not fit the message. */
export function countOption(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= countMax) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

/** Every command can answer for a program instead of a person. */
export const withJson = (command: Command): Command => command.option('--json', 'print JSON')

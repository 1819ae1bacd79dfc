import { tidyRule } from './rule.ts'
import { checkClasses } from './rules/classes.ts'
import { shipped } from './tree.ts'

const path = 'services/stream/hub.ts'
const letters = 'ABCDEFGHIJ'.split('')

const methods = (count: number): string =>
  letters.map((letter, at) => (at < count ? `read${letter}() {}\n` : '')).join('')

const interfaces = (count: number): string =>
  letters.map((letter, at) => (at < count ? `interface ${letter} { run(): void }\n` : '')).join('')

const fields = (count: number): string =>
  letters.map((letter, at) => (at < count ? `readonly ${letter.toLowerCase()}: ${letter}\n` : '')).join('')

tidyRule('a class has at most 10 public methods and 8 collaborators', {
  check: checkClasses,
  on: shipped,
  atLeast: 300,
  planted: [
    {
      path,
      text: `\nexport class Hub {\n${methods(10)}async close() {}\n}`,
      complaint: `${path}:2 Hub has 11 public methods, 10 at most`,
    },
    {
      path,
      text: `${interfaces(9)}class Hub { ${fields(9)} }`,
      complaint: 'has 9 collaborators (A, B, C, D, E, F, G, H, I), 8 at most',
    },
    {
      path,
      text: `${interfaces(9)}interface HubDeps { ${fields(9)} }\nclass Hub { #deps: HubDeps }`,
      complaint: 'has 9 collaborators',
    },
    {
      path,
      text: "import type { HubDeps } from './deps.ts'\nclass Hub { #deps: HubDeps }",
      beside: [
        {
          path: 'services/stream/deps.ts',
          text: `${interfaces(9)}export interface PartDeps { ${fields(5)} }
export interface HubDeps extends PartDeps { ${fields(9)} }`,
        },
      ],
      complaint: 'has 9 collaborators',
    },
    {
      path,
      text: `${interfaces(7)}class Own { run() {} }\nclass Other { run() {} }
class Hub { ${fields(7)} #own = new Own(); readonly other = new Other() }`,
      complaint: 'has 9 collaborators',
    },
  ],
  fine: [
    {
      path,
      text: `${interfaces(8)}interface J { readonly count: number }
class Hub { ${fields(8)} j: J; a2: A | undefined; names: Map<string, string>
${methods(10)} #close() {} get size() { return 1 } static open() {} }`,
    },
    {
      path: 'services/stream/names.ts',
      text: `import { Place } from '../core/place.ts'
${interfaces(8)}class Names { ${fields(8)} place: Place; other = new Map() }`,
    },
    { path: 'services/core/place.ts', text: 'export class Place { read() {} }' },
  ],
})

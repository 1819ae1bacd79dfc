import { tidyRule } from './rule.ts'
import { checkWords, sentenceWordsMax } from './rules/words.ts'
import { written } from './tree.ts'

const path = 'services/stream/hub.ts'
const subject = 'begin with the subject'
const failed = 'begin with what failed'

const words = (count: number): string => 'word '.repeat(count).trim()

tidyRule('comments, test titles and logs use plain words and short sentences', {
  check: checkWords,
  on: written,
  atLeast: 900,
  planted: [
    { path, text: '\n/** Of bars that were missed. */', complaint: `:2: comment has "Of"; ${subject}` },
    { path, text: '/**\n * So long it waits.\n */', complaint: `comment has "So long"; ${subject}` },
    { path, text: '/** So often it is looked. */', complaint: `comment has "So often"; ${subject}` },
    { path, text: '/** Whoever asks. */', complaint: `comment has "Whoever"; ${subject}` },
    { path, text: '// Who asks.', complaint: `comment has "Who"; ${subject}` },
    { path, text: "log.warn('the bus is away')", complaint: `log has "away"; ${failed}` },
    { path, text: '\nthis.#deps.log.info({ a }, `ingest told ${a}`)', complaint: `:2: log has "told"` },
    { path, text: "log.error(a ? 'tells' : 'b')", complaint: 'log has "tells"' },
    { path, text: "this.#log.debug({ why: 'no; going on' })", complaint: 'log has "going on"' },
    { path, text: "deps.log.warn('it goes on')", complaint: 'log has "goes on"' },
    { path, text: "outage.failed({ text: 'the bus is away' })", complaint: 'log has "away"' },
    { path, text: "this.#outages[kind].worked('it goes on')", complaint: 'log has "goes on"' },
    { path, text: "log.warn('unavailable: the bus')", complaint: `log has "unavailable"; ${failed}` },
    { path, text: "this.#outageOf(file).worked('available again')", complaint: 'log has "available"' },
    { path, text: '// The house stands.', complaint: 'comment has "house"; use the trade term' },
    { path, text: "test.for([1])('a door %s', () => {})", complaint: 'title has "door"' },
    { path, text: "log.info('on the ground floor')", complaint: 'log has "ground floor"' },
    {
      path,
      text: `/** ${words(10)}\n * ${words(sentenceWordsMax - 9)}. Next. */`,
      complaint: `comment has ${sentenceWordsMax + 1} words`,
    },
    {
      path,
      text: `// ${words(10)}\n// ${words(sentenceWordsMax - 9)}`,
      complaint: `comment has ${sentenceWordsMax + 1} words`,
    },
    {
      path,
      text: `test('${words(sentenceWordsMax + 1)}', () => {})`,
      complaint: `title has ${sentenceWordsMax + 1} words`,
    },
  ],
  fine: [
    { path, text: `/** Maximum of what waits. Often so. ${words(sentenceWordsMax)}. */` },
    { path, text: `const a = 'told' // ${words(20)}\nconst b = 'away' // ${words(20)}` },
    { path, text: "// Whose bars these are.\ntest('it goes on', () => expect('away').toBe('door'))" },
    { path, text: `/**\n * ${words(25)}\n * - ${words(25)}\n *\n * ${words(25)}\n */` },
    { path, text: "catalogue.info('away'); log.warn('indoors'); warn('told')" },
    { path, text: "log.warn('the bus is unavailable'); this.#failed('away')" },
  ],
})

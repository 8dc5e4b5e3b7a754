// Told twice; `npm test` tells it once.
process.env.EVERY_CASE = '1';
require('../demo/story.test');

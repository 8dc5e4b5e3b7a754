// Every case; `npm test` tries the first ones.
process.env.EVERY_CASE = '1';
require('../chaos/partsAway.test');

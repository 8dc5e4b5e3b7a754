// 200 executions at the same time on each chain, against budgets for 50 each.
process.env.EVERY_CASE = '1';
require('../chaos/budgetRace.test');

process.env.TEST_SUITE = 'deep';

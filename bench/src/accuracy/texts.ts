/** Sentences for the synthetic speech of the accuracy benchmark. The English ones contain no numerals. */

export const ENGLISH_SENTENCES = [
  "The bakery on the corner opens early, so there is always fresh bread in the morning.",
  "She forgot her keys at the office and had to wait outside for her neighbor.",
  "We planted tomatoes behind the house, but the birds found them first.",
  "Nobody knew why the lights went out in the middle of the concert.",
  "If the weather stays dry, the workers will finish the bridge before winter.",
  "My grandfather kept a small boat on the lake and taught us how to row.",
  "The new teacher asked every student to write a letter to a friend.",
  "Turn left after the hospital and you will see a yellow building.",
  "They argued about the price for an hour and then shook hands.",
  "I would rather walk than sit in traffic all afternoon.",
  "The museum has a large collection of old maps and wooden ships.",
  "Please speak slowly, because some of our guests are still learning the language.",
  "After dinner the children wanted to hear the same story again.",
  "The company is looking for a person who likes to solve difficult problems.",
  "A thin layer of snow covered the roofs, the gardens and the empty streets.",
  "He opened the window, listened for a moment, and closed it without a word.",
  "Good software should explain what went wrong and what to do about it.",
  "The doctor told him to drink more water and to get some rest.",
  "There was a strange smell in the kitchen, as if something had burned.",
  "Most people remember the first movie that made them cry.",
  "The bus was so crowded that we had to stand near the back door.",
  "You can change the color of the button in the settings of the page.",
  "Every summer the village holds a market with music and local food.",
  "It took them several weeks to repair the damage from the storm.",
  "The police asked the driver to step out of the car.",
  "Our meeting tomorrow will be short, since everybody has read the report.",
  "A good map would have saved us a great deal of trouble.",
  "The river rises quickly in spring when the snow melts in the mountains.",
  "What matters is not how fast you read, but how much you understand.",
  "They decided to sell the farm and move closer to the city.",
] as const;

/** Additional sentences for the checked voices. */
export const CHECKED_ENGLISH_SENTENCES = [
  "The ferry leaves at seven, so we should pack our bags tonight.",
  "My brother repairs bicycles and old radios in the garage.",
  "Can you tell me which platform the next train to the airport leaves from?",
  "Half of the audience had already gone home when the band finally started to play.",
  "The recipe calls for butter, brown sugar and a pinch of salt.",
  "Scientists found that the ice is melting faster than anyone expected.",
  "Our landlord promised to fix the heating before the end of the month.",
  "It is easier to ask for help than to pretend that nothing happened.",
  "The goalkeeper jumped to the left, but the ball went the other way.",
  "A small dog followed us all the way from the beach to the hotel.",
  "Before you sign the contract, read every page of it twice.",
  "The library closes early on Friday because of the holiday.",
  "Her first novel sold more copies than all of her later books together.",
  "We could hear the thunder long before we saw any rain.",
  "Somebody left an umbrella and a pair of gloves under the table.",
  "To make a backup, choose the folder and press the green button.",
  "The judge listened to both sides and asked for another week.",
  "Farmers in the valley grow apples, pears and a little wheat.",
] as const;

/** Sentences for the fresh voices only: at home, in meetings, in lectures, on the telephone. */
export const FRESH_ENGLISH_SENTENCES = [
  "Could you pick up some milk and eggs on your way home from work?",
  "The washing machine makes a terrible noise whenever it starts to spin.",
  "I left my glasses on the kitchen counter, right beside the coffee maker.",
  "My sister is moving into a smaller apartment at the end of next month.",
  "Put the soup back on the stove and let it boil for another minute.",
  "We are out of clean towels, so I will do the laundry this evening.",
  "The kids built a fort out of blankets and refused to come out for lunch.",
  "Does anyone remember where we parked the car?",
  "Let's go around the table and hear what everybody did last week.",
  "I don't think we can ship this before the tests are finished.",
  "Who is going to write the minutes and send them to the rest of the team?",
  "The budget for next year has not been approved by the board.",
  "Can we move this discussion to Thursday, when the designers are here?",
  "Sales went up in the north, but they dropped sharply in the rest of the country.",
  "I agree with most of it, although the schedule still looks a bit tight to me.",
  "Before we close, are there any questions about the new office rules?",
  "In the last lecture we looked at how plants turn sunlight into sugar.",
  "This curve shows how the population changed over the last two centuries.",
  "Remember that a theory is only as good as the observations behind it.",
  "The author never tells us directly whether the captain survives the voyage.",
  "If you double the distance, the force becomes four times weaker.",
  "Please open your books at the chapter about trade in the ancient world.",
  "The exam will cover everything up to and including the second law of motion.",
  "Notice that the same pattern appears in music, painting and poetry.",
  "Hello, I am calling about the invoice that you sent us on Monday.",
  "You have reached the dental practice, please leave a message after the tone.",
  "Sorry, the line is very bad, could you say that once more?",
  "I have been on hold for twenty minutes and nobody has picked up.",
  "The technician can come between noon and four, would that suit you?",
  "Thank you for your patience, I will transfer you to the right department.",
  "My order number begins with a letter, do you want me to spell it?",
  "Give me a call back when you have time, it is nothing urgent.",
] as const;

export interface OtherLanguage {
  code: string;
  /** Voice name for `espeak_SetVoiceByName`. */
  voice: string;
  sentences: readonly string[];
}
